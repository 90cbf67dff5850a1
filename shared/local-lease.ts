import { LEASE_MARGIN_MS } from './limits.ts';

/** Beats come no closer together than this, however short a lease is. */
const MIN_BEAT_INTERVAL_MS = 200;

/**
 * The holder's own copy of a lease. The database clock decides who holds it; this copy errs early, because the time
 * left is counted from when the question was *sent*, and the database answered later than that. So no clocks need to agree.
 */
export class LocalLease {
  #grantedAt: number;
  #remainingMs: number;

  /**
   * @param sentAt local milliseconds when the claim was sent
   * @param remainingMs left on the lease by the database clock
   */
  constructor(sentAt: number, remainingMs: number) {
    this.#grantedAt = sentAt;
    this.#remainingMs = remainingMs;
  }

  /** After a heartbeat that was answered: a new lease, as far as this side can tell. */
  renew(sentAt: number, remainingMs: number): void {
    this.#grantedAt = sentAt;
    this.#remainingMs = remainingMs;
  }

  /** Local milliseconds after which the work must not go on: the expiry minus a margin. */
  get stopAt(): number {
    return this.#grantedAt + this.#remainingMs - Math.min(LEASE_MARGIN_MS, this.#remainingMs / 10);
  }

  /** When the next heartbeat is due: a third of the lease after the last grant. */
  get nextBeatAt(): number {
    return this.#grantedAt + this.beatInterval;
  }

  /** A third of the lease. */
  get beatInterval(): number {
    return Math.max(MIN_BEAT_INTERVAL_MS, this.#remainingMs / 3);
  }
}
