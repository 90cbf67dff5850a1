/**
 * A small model of the job model: what the routines promise, in plain data. It does not say which job a claim takes, only
 * which ones it may take; everything else it says exactly.
 */
export type ModelState =
  'pending' | 'running' | 'expired' | 'dead' | 'escalated' | 'succeeded' | 'cancelled';
/** A person's hold on an escalated job. */
export type Hold = 'none' | 'held' | 'expired';

export interface ModelJob {
  readonly id: string;
  readonly seq: number;
  readonly key: string | null;
  readonly dedup: string | null;
  readonly maxAttempts: number;
  state: ModelState;
  attempt: number;
  token: number;
  unknownFailures: number;
  expiries: number;
  redrives: number;
  /** Behind its ordering key. */
  parked: boolean;
  /** Due later than now. */
  delayed: boolean;
  cancelRequested: boolean;
  owner: string | null;
  /** Of an escalated job. */
  hold: Hold;
  /** When it escalated, among the others. */
  escalatedAt: number;
  /** Of the person who sent it back. */
  note: string | null;
}

export const MAX_UNKNOWN = 2;

export class Model {
  readonly jobs = new Map<string, ModelJob>();
  paused = false;
  /** The failure that hands a job to a person; null: the queue does not escalate. */
  readonly escalateAfter: number | null;
  #seq = 0;

  constructor(escalateAfter: number | null = null) {
    this.escalateAfter = escalateAfter;
  }

  get live(): ModelJob[] {
    return [...this.jobs.values()].filter((job) =>
      ['pending', 'running', 'expired'].includes(job.state),
    );
  }

  holderOfDedup(dedup: string): ModelJob | undefined {
    return this.live.find((job) => job.dedup === dedup);
  }

  add(
    id: string,
    options: { key: string | null; dedup: string | null; maxAttempts: number; delayed: boolean },
  ): void {
    this.#seq += 1;
    this.jobs.set(id, {
      id,
      seq: this.#seq,
      key: options.key,
      dedup: options.dedup,
      maxAttempts: options.maxAttempts,
      state: 'pending',
      attempt: 0,
      token: 0,
      unknownFailures: 0,
      expiries: 0,
      redrives: 0,
      parked: options.key !== null,
      delayed: options.delayed,
      cancelRequested: false,
      owner: null,
      hold: 'none',
      escalatedAt: 0,
      note: null,
    });
    this.#unpark(options.key);
  }

  /** Jobs that a claim may take now. */
  get claimable(): ModelJob[] {
    if (this.paused) return [];
    return this.live.filter(
      (job) =>
        (job.state === 'pending' && !job.parked && !job.delayed) || this.#claimableAfterExpiry(job),
    );
  }

  #claimableAfterExpiry(job: ModelJob): boolean {
    return job.state === 'expired' && this.settlementOf(job) === 'claim';
  }

  /** What becomes of an expired lease when a claim or the drain meets it. */
  settlementOf(job: ModelJob): 'cancelled' | 'dead' | 'escalated' | 'claim' | 'pending' {
    if (job.cancelRequested) return 'cancelled';
    if (this.#isSpent(job)) return this.#exhausted;
    return job.expiries === 0 ? 'claim' : 'pending';
  }

  /** Settles an expired lease; by the drain a first expiry goes back to pending as well. */
  settle(job: ModelJob): void {
    switch (this.settlementOf(job)) {
      case 'cancelled':
        this.#end(job, 'cancelled');
        break;
      case 'dead':
      case 'escalated':
        this.#end(job, this.#exhausted);
        break;
      case 'claim':
      case 'pending':
        this.#putBack(job, { attempt: job.attempt, expiries: job.expiries + 1, delayed: false });
    }
  }

  claim(job: ModelJob, owner: string): void {
    if (job.state === 'expired') job.expiries += 1;
    job.state = 'running';
    job.attempt += 1;
    job.token += 1;
    job.owner = owner;
  }

  complete(job: ModelJob): 'succeeded' | 'cancelled' {
    const end = job.cancelRequested ? 'cancelled' : 'succeeded';
    this.#end(job, end);
    return end;
  }

  fail(
    job: ModelJob,
    failureClass: 'permanent' | 'transient' | 'unknown',
  ): 'pending' | 'dead' | 'escalated' | 'cancelled' {
    if (failureClass === 'unknown') job.unknownFailures += 1;
    if (job.cancelRequested) {
      this.#end(job, 'cancelled');
      return 'cancelled';
    }
    const spent =
      failureClass === 'permanent' ||
      this.#isSpent(job) ||
      (this.escalateAfter === null &&
        failureClass === 'unknown' &&
        job.unknownFailures >= MAX_UNKNOWN);
    if (spent) {
      this.#end(job, this.#exhausted);
      return this.#exhausted;
    }
    this.#putBack(job, { attempt: job.attempt, expiries: 0, delayed: false });
    return 'pending';
  }

  /** The holder asks a person. */
  ask(job: ModelJob): 'escalated' | 'cancelled' {
    const end = job.cancelRequested ? 'cancelled' : 'escalated';
    this.#end(job, end);
    return end;
  }

  /** The one that a person gets: it has waited longest, and nobody holds it. */
  get nextForPeople(): ModelJob | undefined {
    return [...this.jobs.values()]
      .filter((job) => job.state === 'escalated' && job.hold !== 'held')
      .toSorted((a, b) => a.escalatedAt - b.escalatedAt)[0];
  }

  takeEscalated(job: ModelJob, owner: string): void {
    Object.assign(job, { hold: 'held', owner, token: job.token + 1 });
  }

  completeHeld(job: ModelJob): 'succeeded' {
    job.attempt += 1;
    this.#end(job, 'succeeded');
    return 'succeeded';
  }

  discardHeld(job: ModelJob): 'cancelled' {
    this.#end(job, 'cancelled');
    return 'cancelled';
  }

  release(job: ModelJob): 'escalated' {
    Object.assign(job, { hold: 'none', owner: null });
    return 'escalated';
  }

  sendBack(job: ModelJob, note: string): 'pending' | 'dedup_key_taken' {
    if (job.dedup !== null && this.holderOfDedup(job.dedup) !== undefined) return 'dedup_key_taken';
    this.#revive(job, note);
    return 'pending';
  }

  giveBack(job: ModelJob, delayed: boolean): 'pending' | 'cancelled' {
    if (job.cancelRequested) {
      this.#end(job, 'cancelled');
      return 'cancelled';
    }
    this.#putBack(job, { attempt: job.attempt - 1, expiries: job.expiries, delayed });
    return 'pending';
  }

  cancel(job: ModelJob): 'cancelled' | 'cancel_requested' | 'already_ended' {
    if (job.state === 'running') {
      job.cancelRequested = true;
      return 'cancel_requested';
    }
    if (job.state === 'pending' || job.state === 'expired') {
      this.#end(job, 'cancelled');
      return 'cancelled';
    }
    return 'already_ended';
  }

  redrive(job: ModelJob): 'redriven' | 'dedup_key_taken' | 'not_dead' {
    if (job.state !== 'dead') return 'not_dead';
    if (job.dedup !== null && this.holderOfDedup(job.dedup) !== undefined) return 'dedup_key_taken';
    this.#revive(job, null);
    return 'redriven';
  }

  #revive(job: ModelJob, note: string | null): void {
    Object.assign(job, {
      state: 'pending',
      hold: 'none',
      note,
      attempt: 0,
      unknownFailures: 0,
      expiries: 0,
      redrives: job.redrives + 1,
      parked: job.key !== null,
      delayed: false,
      cancelRequested: false,
      owner: null,
    });
    this.#unpark(job.key);
  }

  discard(job: ModelJob): 'discarded' | 'not_dead' {
    if (job.state !== 'dead') return 'not_dead';
    job.state = 'cancelled';
    this.#unpark(job.key);
    return 'discarded';
  }

  #putBack(job: ModelJob, to: { attempt: number; expiries: number; delayed: boolean }): void {
    Object.assign(job, { state: 'pending', owner: null, ...to });
  }

  #isSpent(job: ModelJob): boolean {
    return job.attempt >= Math.min(job.maxAttempts, this.escalateAfter ?? Infinity);
  }

  get #exhausted(): 'dead' | 'escalated' {
    return this.escalateAfter === null ? 'dead' : 'escalated';
  }

  #end(job: ModelJob, state: 'dead' | 'escalated' | 'succeeded' | 'cancelled'): void {
    this.#seq += 1;
    Object.assign(job, { state, hold: 'none', owner: null, parked: false, escalatedAt: this.#seq });
    this.#unpark(job.key);
  }

  /** The first of a key goes, unless one is open, or a dead or escalated one blocks. */
  #unpark(key: string | null): void {
    if (key === null) return;
    const ofKey = [...this.jobs.values()].filter((job) => job.key === key);
    if (ofKey.some((job) => job.state === 'dead' || job.state === 'escalated')) return;
    const live = ofKey.filter((job) => ['pending', 'running', 'expired'].includes(job.state));
    if (live.some((job) => !job.parked)) return;
    const next = live.sort((a, b) => a.seq - b.seq)[0];
    if (next !== undefined) next.parked = false;
  }
}
