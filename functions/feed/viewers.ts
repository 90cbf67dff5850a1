import { LeaseholdError } from '../../shared/errors.ts';
import {
  FEED_FULL_RETRY_SECONDS,
  MAX_FEED_BACKLOG_BYTES,
  MAX_FEED_VIEWERS,
  MAX_RETURN_MS,
  MIN_RETURN_MS,
  STREAM_LINGER_MS,
} from '../../shared/limits.ts';
import type { Random } from '../../shared/ports.ts';
import type { Viewer } from './viewer.ts';

/** Whose streams are open, and what all of them together may hold in memory. */
export class Viewers {
  readonly #all = new Set<Viewer>();

  /** Streams that are open; those count that get nothing more and have not taken all of it. */
  get size(): number {
    return this.#all.size;
  }

  /** Bytes that were sent and that nobody has taken. */
  get backlog(): number {
    let bytes = 0;
    for (const viewer of this.#all) bytes += viewer.backlog;
    return bytes;
  }

  [Symbol.iterator](): IterableIterator<Viewer> {
    return this.#all.values();
  }

  add(viewer: Viewer): void {
    this.#all.add(viewer);
  }

  delete(viewer: Viewer): void {
    this.#all.delete(viewer);
  }

  /** @throws {LeaseholdError} `feed_full` when there is none */
  requireRoom(): void {
    if (this.size < MAX_FEED_VIEWERS) return;
    for (const viewer of this.#all) if (viewer.gone) viewer.drop();
    if (this.size >= MAX_FEED_VIEWERS) throw feedFull();
  }

  /** Who lies furthest behind is cut off, until what waits for all of them together is not too much. */
  cutSlowest(): void {
    let { backlog } = this;
    if (backlog <= MAX_FEED_BACKLOG_BYTES) return;
    for (const viewer of [...this.#all].toSorted((one, other) => other.backlog - one.backlog)) {
      backlog -= viewer.backlog;
      viewer.drop();
      if (backlog <= MAX_FEED_BACKLOG_BYTES) return;
    }
  }

  nextEnd(): number {
    return Math.min(...[...this.#all].map(({ endsAt }) => endsAt));
  }

  /** Streams whose time is up: the reader gets what it has not taken yet, and a moment for that. */
  endDue(now: number, random: Random): void {
    for (const viewer of this.#all) {
      if (viewer.endsAt > now) continue;
      if (viewer.gone) viewer.drop();
      else {
        viewer.endsAt = now + STREAM_LINGER_MS;
        viewer.handOver(
          Math.round(MIN_RETURN_MS + random.next() * (MAX_RETURN_MS - MIN_RETURN_MS)),
        );
      }
    }
  }
}

/** As many watch as one feed serves. */
export function feedFull(): LeaseholdError {
  return new LeaseholdError(
    'feed_full',
    `${MAX_FEED_VIEWERS} streams are open, as many as the live feed serves.`,
    { retryAfterSeconds: FEED_FULL_RETRY_SECONDS },
  );
}
