import { MAX_WAKE_BATCHES, WAKE_BATCH_MS } from '../../shared/limits.ts';
import type { Clock, Timer } from '../../shared/ports.ts';
import type { WakeClock } from '../../shared/wake/wake-clock.ts';

/** A request that has not handed on for so long was cut off. */
const TAKEN_OVER_MS = 4 * WAKE_BATCH_MS;

/** What an isolate keeps between requests: numbers, which it may lose. */
export interface WakeBatch {
  /** The earliest instant that nobody has handed on yet. */
  waiting: number | undefined;
  /** When the request that hands them on last did so; undefined: there is none. */
  handedOnAt: number | undefined;
}

/**
 * A wake clock that is asked at most a few times a second, however many requests of an isolate ask: the first hands its
 * instant on at once, and for a moment those of the others, the earliest of each time. No instant is dropped for an earlier
 * one that the clock was given before: a drain may have come and gone since. The others go without waiting, so nothing of
 * one request hangs on another; should the one that hands on be cut off, the next to ask takes its place.
 */
export function createBatchedWakeClock(
  wake: WakeClock,
  {
    clock,
    timer,
    batch,
  }: { readonly clock: Clock; readonly timer: Timer; readonly batch: WakeBatch },
): WakeClock {
  return {
    async wakeAt(at) {
      batch.waiting = Math.min(batch.waiting ?? at, at);
      const { handedOnAt } = batch;
      if (handedOnAt !== undefined && clock.now() - handedOnAt < TAKEN_OVER_MS) return;
      try {
        for (let round = 1; round <= MAX_WAKE_BATCHES; round += 1) {
          const earliest = batch.waiting;
          if (earliest === undefined) break;
          batch.waiting = undefined;
          // In the last round whoever asks hands on by itself.
          batch.handedOnAt = round < MAX_WAKE_BATCHES ? clock.now() : undefined;
          await wake.wakeAt(earliest).catch((error: unknown) => {
            batch.waiting = Math.min(batch.waiting ?? earliest, earliest);
            throw error;
          });
          if (round < MAX_WAKE_BATCHES) await timer.sleep(WAKE_BATCH_MS);
        }
      } finally {
        batch.handedOnAt = undefined;
      }
    },
  };
}
