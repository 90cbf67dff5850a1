import { beforeEach, expect, test } from 'vitest';

import { createBatchedWakeClock } from '../../functions/wake/batched-wake-clock.ts';
import { MAX_WAKE_BATCHES, WAKE_BATCH_MS } from '../../shared/limits.ts';
import type { WakeClock } from '../../shared/wake/wake-clock.ts';
import { ManualClock } from '../unit/support/manual-clock.ts';

let time: ManualClock;
/** What reached the clock behind, and when, from the start on. */
let asked: [at: number, when: number][];
let answer: () => Promise<void>;
let wake: WakeClock;
let start: number;

beforeEach(() => {
  time = new ManualClock();
  start = time.now();
  asked = [];
  answer = async () => undefined;
  wake = createBatchedWakeClock(
    {
      wakeAt: async (at) => {
        asked.push([at, time.now() - start]);
        await answer();
      },
    },
    { clock: time, timer: time.timer, batch: { waiting: undefined, handedOnAt: undefined } },
  );
});

test('the first is handed on at once, those of the next moment together, the earliest of them', async () => {
  const asking = [50, 40, 30, 45].map((at) => wake.wakeAt(at));
  await time.advance(WAKE_BATCH_MS);
  expect(asked).toEqual([
    [50, 0],
    [30, WAKE_BATCH_MS],
  ]);
  await time.advance(WAKE_BATCH_MS);
  await Promise.all(asking);
  expect(time.sleeping).toBe(0);
  expect(asked).toHaveLength(2);
});

test('nothing is left out because something earlier was handed on before', async () => {
  void wake.wakeAt(10);
  await time.advance(WAKE_BATCH_MS / 2);
  await wake.wakeAt(99);
  await time.advance(WAKE_BATCH_MS);
  expect(asked.map(([at]) => at)).toEqual([10, 99]);
});

test('five thousand in two seconds are a few calls, and the last of them arrives', async () => {
  const asking: Promise<void>[] = [];
  for (let round = 0; round < 500; round += 1) {
    for (let one = 0; one < 10; one += 1) asking.push(wake.wakeAt(1_000_000 - round));
    await time.advance(4);
  }
  await time.advance(10 * WAKE_BATCH_MS);
  await Promise.all(asking);
  expect(asked.length).toBeLessThanOrEqual(2000 / WAKE_BATCH_MS + 4);
  expect(asked.at(-1)?.[0]).toBe(1_000_000 - 499);
  expect(time.sleeping).toBe(0);
});

test('one request does not hand on for ever, and nothing is left behind when it stops', async () => {
  let leads = true;
  const leading = wake.wakeAt(1).then(() => {
    leads = false;
  });
  for (let at = 2; leads; at += 1) {
    void wake.wakeAt(at);
    await time.advance(WAKE_BATCH_MS / 4);
    expect(at).toBeLessThan(8 * MAX_WAKE_BATCHES);
  }
  await leading;
  await time.advance(WAKE_BATCH_MS);
  void wake.wakeAt(0);
  await time.advance(WAKE_BATCH_MS);
  expect(asked.at(-1)?.[0]).toBe(0);
});

test('a clock that does not take it: the asker hears, and the instant goes with the next that asks', async () => {
  answer = () => Promise.reject(new Error('overloaded'));
  await expect(wake.wakeAt(7)).rejects.toThrow('overloaded');
  answer = async () => undefined;
  void wake.wakeAt(9);
  await time.advance(WAKE_BATCH_MS);
  expect(asked.map(([at]) => at)).toEqual([7, 7]);
});

test('a request that was cut off while it handed on does not stop the others', async () => {
  answer = () => new Promise(() => undefined);
  void wake.wakeAt(5);
  await time.advance(4 * WAKE_BATCH_MS);
  answer = async () => undefined;
  void wake.wakeAt(6);
  await time.advance(0);
  expect(asked.map(([at]) => at)).toEqual([5, 6]);
});
