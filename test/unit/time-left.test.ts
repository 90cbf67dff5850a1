import { expect, test } from 'vitest';

import { takesMoreUntil } from '../../functions/time-left.ts';

const NOW = 1_000_000;
const ENDS_AT = NOW + 30_000;

test.each([
  ['half of the invocation', {}, 15_000],
  ['what the platform says', { takesMoreMs: 4000 }, 4000],
  ['half of it though the platform says more', { takesMoreMs: 20_000 }, 15_000],
  ['while the longest run fits in', { maxRunSeconds: 25 }, 5000],
  ['half of it where runs are short', { maxRunSeconds: 2 }, 15_000],
  ['nothing behind a run that takes it all', { maxRunSeconds: 30 }, 0],
  ['nothing when the platform says so', { takesMoreMs: 0 }, 0],
])('S1.10 an invocation takes more jobs for %s', (_, limits, ms) => {
  expect(takesMoreUntil(NOW, ENDS_AT, limits) - NOW).toBe(ms);
});
