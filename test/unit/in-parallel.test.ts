import { expect, test } from 'vitest';

import { inParallel } from '../../shared/in-parallel.ts';

test('keeps to the limit and goes on after failures', async () => {
  let inFlight = 0;
  let most = 0;
  const done: number[] = [];
  const counts = await inParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    await Promise.resolve();
    inFlight -= 1;
    if (item % 3 === 0) throw new Error('one fails');
    done.push(item);
  });
  expect(counts).toEqual({ fulfilled: 5, rejected: 2 });
  expect(most).toBe(3);
  expect(done.toSorted((left, right) => left - right)).toEqual([1, 2, 4, 5, 7]);
});

test('of nothing is nothing', async () => {
  expect(await inParallel([], 3, async () => undefined)).toEqual({ fulfilled: 0, rejected: 0 });
});
