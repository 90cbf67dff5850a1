import { expect, test } from 'vitest';

import { pollUntil } from '../../shared/poll-until.ts';
import { ManualClock } from './support/manual-clock.ts';

function polled(seconds: number, look: (at: number) => string | undefined) {
  const time = new ManualClock();
  const beganAt = time.now();
  const looks: number[] = [];
  const abort = new AbortController();
  const done = pollUntil(
    { clock: time, timer: time.timer },
    { deadlineMs: beganAt + seconds * 1000, signal: abort.signal },
    async () => {
      looks.push(time.now() - beganAt);
      return look(time.now() - beganAt);
    },
  );
  return { time, looks, abort, done };
}

test('looks at growing intervals, and for the last time at the deadline', async () => {
  const { time, looks, done } = polled(10, () => undefined);
  await time.advance(20_000);
  expect(await done).toBeUndefined();
  expect(looks).toEqual([0, 500, 1250, 2375, 4062.5, 6062.5, 8062.5, 10_000]);
  expect(time.sleeping).toBe(0);
});

test('ends with what it sees', async () => {
  const { time, looks, done } = polled(10, (at) => (at >= 1000 ? 'there' : undefined));
  await time.advance(5000);
  expect(await done).toBe('there');
  expect(looks).toEqual([0, 500, 1250]);
});

test('looks once when there is no time to wait', async () => {
  const { looks, done } = polled(0, () => undefined);
  expect(await done).toBeUndefined();
  expect(looks).toEqual([0]);
});

test('stops at once when nobody waits any more', async () => {
  const { time, looks, abort, done } = polled(10, () => undefined);
  await time.advance(600);
  abort.abort();
  expect(await done).toBeUndefined();
  expect(looks).toEqual([0, 500]);
  expect(time.sleeping).toBe(0);
});
