import { CONTENTION, EXCHANGED, type Ledger } from './ledger.ts';

const ERROR = /^(\S{5}) (ERROR|FATAL|PANIC): {2}(.*)$/;
/** A statement whose caller went away; FATAL ones are connections that ended with a stopped Worker or migrator. */
const CALLER_GONE = ['57014', '08006', '08003', '57P01'];

/** Every error that the server itself reports: whatever a caller may have hidden is in its log. */
export class ServerErrors {
  /** By SQLSTATE and message. */
  readonly #seen = new Map<string, number>();
  readonly #faults = new Set<string>();
  /** Knows what is going on when a line comes. */
  ledger: Ledger | undefined;

  note(line: string): void {
    const [, code, , message] = ERROR.exec(line) ?? [];
    if (code === undefined || message === undefined) return;
    const key = `${code} ${message}`;
    this.#seen.set(key, (this.#seen.get(key) ?? 0) + 1);
    const expected =
      CONTENTION.includes(code) ||
      CALLER_GONE.includes(code) ||
      (code === EXCHANGED && this.ledger?.exchanging === true);
    if (!expected) this.#faults.add(key);
  }

  get all(): readonly string[] {
    return [...this.#seen].map(([what, times]) => `${times} × ${what}`);
  }

  /** Those that no caller may take for "again". */
  get faults(): readonly string[] {
    return [...this.#faults];
  }
}
