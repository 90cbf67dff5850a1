import { describe, expect, test } from 'vitest';

import { createBatchedEventFeed } from '../../functions/feed/batched-event-feed.ts';
import type { FeedBatch } from '../../functions/feed/batched-event-feed.ts';
import { FEED_BATCH_MS, FEED_HINT_TIMEOUT_MS } from '../../shared/limits.ts';
import { ManualClock } from '../unit/support/manual-clock.ts';

function world(tell: () => Promise<void>) {
  const time = new ManualClock();
  const batch: FeedBatch = { waiting: false, tellingSince: undefined };
  const tasks: Promise<void>[] = [];
  const feed = createBatchedEventFeed({
    clock: time,
    timer: time.timer,
    background: { run: (task) => void tasks.push(task()) },
    batch,
    tell,
  });
  return { time, tasks, feed };
}

describe('hints of one isolate', () => {
  test('the first is told at once, those of the next moment together', async () => {
    let told = 0;
    const { time, tasks, feed } = world(async () => void (told += 1));
    feed.changed();
    expect(told).toBe(1);
    for (let i = 0; i < 50; i += 1) feed.changed();
    await time.advance(FEED_BATCH_MS - 1);
    expect(told).toBe(1);
    await time.advance(1);
    expect(told).toBe(2);
    await time.advance(FEED_BATCH_MS);
    expect(told).toBe(2);
    feed.changed();
    expect(told).toBe(3);
    await time.advance(10 * FEED_BATCH_MS);
    await Promise.all(tasks);
    expect(tasks).toHaveLength(2);
    expect(time.sleeping).toBe(0);
  });

  test('one that comes while another is told is not lost', async () => {
    let told = 0;
    let release = (): void => undefined;
    const { time, feed } = world(async () => {
      told += 1;
      if (told === 1) await new Promise<void>((resolve) => (release = resolve));
    });
    feed.changed();
    feed.changed();
    release();
    await time.advance(FEED_BATCH_MS);
    expect(told).toBe(2);
  });

  test('whoever tells and is cut off is followed by the next, and a feed that hangs is given up', async () => {
    let told = 0;
    const { time, tasks, feed } = world(async () => {
      told += 1;
      await new Promise(() => undefined);
    });
    feed.changed();
    await time.advance(FEED_HINT_TIMEOUT_MS + FEED_BATCH_MS);
    await Promise.all(tasks);
    feed.changed();
    expect(told).toBe(2);
  });
});
