import { expect, test } from 'vitest';

import { MAX_LOOK_AGAIN_MS, MIN_LOOK_AGAIN_MS } from '../../shared/limits.ts';
import { lookAgainAfterMs } from '../../shared/wake/look-again.ts';

test('work that nobody takes is looked at again after its age, within bounds', () => {
  expect(lookAgainAfterMs(-50)).toBe(MIN_LOOK_AGAIN_MS);
  expect(lookAgainAfterMs(0)).toBe(MIN_LOOK_AGAIN_MS);
  expect(lookAgainAfterMs(7000)).toBe(7000);
  expect(lookAgainAfterMs(366 * 86_400_000)).toBe(MAX_LOOK_AGAIN_MS);
});

test('B.1 a day of work that nobody takes costs a few dozen looks', () => {
  let age = 0;
  let looks = 0;
  for (; age < 86_400_000; looks += 1) age += lookAgainAfterMs(age);
  expect(looks).toBeLessThan(40);
});
