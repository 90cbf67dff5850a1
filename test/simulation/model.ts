/**
 * A small model of the job model: what the routines promise, in plain data. It does not say which job a claim takes, only
 * which ones it may take; everything else it says exactly.
 */
export type ModelState = 'pending' | 'running' | 'expired' | 'dead' | 'succeeded' | 'cancelled';

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
}

export const MAX_UNKNOWN = 2;

export class Model {
  readonly jobs = new Map<string, ModelJob>();
  paused = false;
  #seq = 0;

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
  settlementOf(job: ModelJob): 'cancelled' | 'dead' | 'claim' | 'pending' {
    if (job.cancelRequested) return 'cancelled';
    if (job.attempt >= job.maxAttempts) return 'dead';
    return job.expiries === 0 ? 'claim' : 'pending';
  }

  /** Settles an expired lease; by the drain a first expiry goes back to pending as well. */
  settle(job: ModelJob): void {
    switch (this.settlementOf(job)) {
      case 'cancelled':
        this.#end(job, 'cancelled');
        break;
      case 'dead':
        this.#end(job, 'dead');
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
  ): 'pending' | 'dead' | 'cancelled' {
    if (failureClass === 'unknown') job.unknownFailures += 1;
    if (job.cancelRequested) {
      this.#end(job, 'cancelled');
      return 'cancelled';
    }
    const spent =
      failureClass === 'permanent' ||
      job.attempt >= job.maxAttempts ||
      (failureClass === 'unknown' && job.unknownFailures >= MAX_UNKNOWN);
    if (spent) {
      this.#end(job, 'dead');
      return 'dead';
    }
    this.#putBack(job, { attempt: job.attempt, expiries: 0, delayed: false });
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
    Object.assign(job, {
      state: 'pending',
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
    return 'redriven';
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

  #end(job: ModelJob, state: 'dead' | 'succeeded' | 'cancelled'): void {
    Object.assign(job, { state, owner: null, parked: false });
    this.#unpark(job.key);
  }

  /** The first of a key goes, unless one is open or a dead one blocks. */
  #unpark(key: string | null): void {
    if (key === null) return;
    const ofKey = [...this.jobs.values()].filter((job) => job.key === key);
    if (ofKey.some((job) => job.state === 'dead')) return;
    const live = ofKey.filter((job) => ['pending', 'running', 'expired'].includes(job.state));
    if (live.some((job) => !job.parked)) return;
    const next = live.sort((a, b) => a.seq - b.seq)[0];
    if (next !== undefined) next.parked = false;
  }
}
