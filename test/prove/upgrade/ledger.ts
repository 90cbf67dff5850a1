/** Parts of the run, in their order. */
export const PHASES = [
  'old alone',
  'migration refused',
  'migration',
  'old on new',
  'side by side',
  'new alone',
] as const;
export type Phase = (typeof PHASES)[number];

/** What producers were promised, and everything that callers got to see besides. */
export class Ledger {
  phase: Phase = 'old alone';
  /** Accepted jobs: id and queue. */
  readonly accepted = new Map<string, string>();
  appended = 0;
  /** Answers and SQLSTATEs that a caller took for "again", by phase and name. */
  readonly retried = new Map<string, number>();
  /** The longest call a phase, in milliseconds, by kind of call. */
  readonly longest = new Map<string, number>();
  readonly calls = new Map<Phase, number>();
  readonly #last = new Map<string, string>();
  readonly #faults = new Map<string, number>();

  /** Each once, with how often it came. */
  get faults(): readonly string[] {
    return [...this.#faults].map(([text, times]) => (times === 1 ? text : `${text} (${times}×)`));
  }

  fault(text: string): void {
    this.#faults.set(text, (this.#faults.get(text) ?? 0) + 1);
  }

  accept(queue: string, ids: readonly string[]): void {
    for (const id of ids) {
      this.accepted.set(id, queue);
      this.#last.set(queue, id);
    }
  }

  /** The last of each queue. */
  *recent(): Generator<string> {
    yield* this.#last.values();
  }

  /** Whether routines are being exchanged: one that runs may then be refused, and its success is told alone. */
  get exchanging(): boolean {
    return this.phase === 'migration' || this.phase === 'old on new';
  }

  retry(name: string): void {
    const key = `${this.phase}: ${name}`;
    this.retried.set(key, (this.retried.get(key) ?? 0) + 1);
  }

  /** Times a call, in the phase in which it began. */
  async timed<Value>(kind: string, call: () => Promise<Value>): Promise<Value> {
    const { phase } = this;
    const began = performance.now();
    try {
      return await call();
    } finally {
      const key = `${phase}: ${kind}`;
      this.longest.set(key, Math.max(this.longest.get(key) ?? 0, performance.now() - began));
      this.calls.set(phase, (this.calls.get(phase) ?? 0) + 1);
    }
  }
}

/** SQLSTATE of a routine that runs while those that it calls are exchanged: nothing of it happened. */
export const EXCHANGED = '42804';

/** Postgres said no and changed nothing, and the same statement may well succeed a moment later. */
export const CONTENTION: readonly string[] = ['40001', '40P01', '55P03'];
