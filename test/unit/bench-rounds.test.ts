import { expect, test } from 'vitest';
import type { Progress } from '../bench/support/progress.ts';
import { interleave } from '../bench/support/rounds.ts';

const silent: Progress = {
  show: () => undefined,
  print: () => undefined,
  clear: () => undefined,
};

test('variants are measured in turn, and warm-ups do not count', async () => {
  const order: string[] = [];
  let calls = 0;
  const variant = (name: string) => ({
    name,
    measure: () => {
      order.push(name);
      calls += 1;
      return Promise.resolve(calls);
    },
  });
  const results = await interleave([variant('A'), variant('B')], {
    repeats: 3,
    warmUps: 1,
    progress: silent,
    what: 'letters',
  });
  expect(order.join('')).toBe('ABABABAB');
  expect(results).toEqual(
    new Map([
      ['A', [3, 5, 7]],
      ['B', [4, 6, 8]],
    ]),
  );
});
