import { waitAtMost } from '../../shared/bounded-wait.ts';
import { FEED_BATCH_MS, FEED_HINT_TIMEOUT_MS, MAX_WAKE_BATCHES } from '../../shared/limits.ts';
import type { Clock, EventFeed, Timer } from '../../shared/ports.ts';
import type { Background } from '../background.ts';

/** A request that has not told for so long was cut off. */
const TAKEN_OVER_MS = 2 * (FEED_BATCH_MS + FEED_HINT_TIMEOUT_MS);

/** What an isolate keeps between requests: numbers, which it may lose. */
export interface FeedBatch {
  /** Whether something was committed that nobody has told yet. */
  waiting: boolean;
  /** When the request that tells for others began to; undefined: there is none. */
  tellingSince: number | undefined;
}

export interface BatchedEventFeedOptions {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly background: Background;
  readonly batch: FeedBatch;
  /** Tells whoever reads the log. */
  readonly tell: () => Promise<void>;
}

/**
 * Tells of changes in the background, a few times a second at most however many requests of an isolate change something: the
 * first tells at once, and for a moment for those that come meanwhile. Should it be cut off, the next one takes its place. A
 * hint that is lost costs nothing but time: the next one brings what it was for.
 */
export function createBatchedEventFeed(options: BatchedEventFeedOptions): EventFeed {
  const { clock, background, batch } = options;
  return {
    changed: () => {
      batch.waiting = true;
      const { tellingSince } = batch;
      if (tellingSince !== undefined && clock.now() - tellingSince < TAKEN_OVER_MS) return;
      background.run(async () => await tellOn(options));
    },
  };
}

async function tellOn({ clock, timer, batch, tell }: BatchedEventFeedOptions): Promise<void> {
  try {
    for (let round = 1; round <= MAX_WAKE_BATCHES && batch.waiting; round += 1) {
      batch.waiting = false;
      // In the last round whoever comes tells by itself.
      batch.tellingSince = round < MAX_WAKE_BATCHES ? clock.now() : undefined;
      await waitAtMost(timer, FEED_HINT_TIMEOUT_MS, tell);
      if (round < MAX_WAKE_BATCHES) await timer.sleep(FEED_BATCH_MS);
    }
  } finally {
    batch.tellingSince = undefined;
  }
}
