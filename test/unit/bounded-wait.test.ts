import { expect, test } from 'vitest';

import { waitAtMost } from '../../shared/bounded-wait.ts';
import { ManualClock, settle } from './support/manual-clock.ts';

test('the first of answer, failure, time and signal counts, and the rest is told to stop', async () => {
  const time = new ManualClock();
  const never = new Promise<string>(() => undefined);

  expect(await waitAtMost(time.timer, 10, async () => 'there')).toEqual({
    kind: 'value',
    value: 'there',
  });

  const failure = new Error('no');
  expect(await waitAtMost(time.timer, 10, () => Promise.reject(failure))).toEqual({
    kind: 'error',
    error: failure,
  });

  let stopped = false;
  const timed = waitAtMost(time.timer, 10, (signal) => {
    signal.addEventListener('abort', () => {
      stopped = true;
    });
    return never;
  });
  await time.advance(10);
  expect(await timed).toEqual({ kind: 'timeout' });
  expect(stopped).toBe(true);

  const caller = new AbortController();
  const aborted = waitAtMost(time.timer, 10, () => never, caller.signal);
  await settle();
  caller.abort();
  expect(await aborted).toEqual({ kind: 'aborted' });
  expect(await waitAtMost(time.timer, 10, () => never, caller.signal)).toEqual({ kind: 'aborted' });
  expect(time.sleeping).toBe(0);
});
