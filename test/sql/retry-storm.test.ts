import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_PEAK_SHARE, peakShare, retryStorm } from '../prove/retry-storm.ts';
import type { Storm } from '../prove/retry-storm.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let storm: Storm;
beforeAll(async () => {
  database = await createTestDatabase();
  storm = await retryStorm(database);
});
afterAll(() => database.drop());

test('S1.9 1,000 jobs that fail together come back spread out: 6 % in the busiest second at most', () => {
  expect(storm.fullJitter.reduce((sum, count) => sum + count)).toBe(1000);
  expect(peakShare(storm.fullJitter)).toBeLessThanOrEqual(MAX_PEAK_SHARE);
});

test('S1.9 with a fixed delay, and with exponential delay alone, all come back in one second', () => {
  expect(peakShare(storm.fixed)).toBe(1);
  expect(peakShare(storm.exponential)).toBe(1);
});
