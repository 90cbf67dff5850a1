import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const delayMs = async (
  attempt: number,
  base: number,
  cap: number,
  jitter: number,
): Promise<number> => {
  const { rows } = await db.pool.query(
    `select extract(epoch from leasehold.retry_delay($1::int, $2::bigint, $3::bigint, $4::float8)) * 1000 as ms`,
    [attempt, base, cap, jitter],
  );
  return Number((rows[0] as { ms: string }).ms);
};

describe('leasehold.retry_delay', () => {
  test('doubles from the base up to the cap, times the jitter', async () => {
    expect(await delayMs(1, 2000, 3_600_000, 1)).toBe(2000);
    expect(await delayMs(4, 2000, 3_600_000, 0.5)).toBe(8000);
    expect(await delayMs(40, 2000, 3_600_000, 0.25)).toBe(900_000);
    expect(await delayMs(3, 2000, 3_600_000, 0)).toBe(0);
  });

  test('case F1 is never negative, never above the cap and never an error, for any attempt', async () => {
    const days30 = 2_592_000_000;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -5, max: 2_147_483_647 }),
        fc.integer({ min: 0, max: days30 }),
        fc.integer({ min: 0, max: days30 }),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        async (attempt, base, cap, jitter) => {
          const ms = await delayMs(attempt, base, cap, jitter);
          expect(ms).toBeGreaterThanOrEqual(0);
          expect(ms).toBeLessThanOrEqual(cap);
        },
      ),
      { numRuns: 300 },
    );
    for (const attempt of [31, 40, 64, 70, 100])
      expect(await delayMs(attempt, 2000, 60_000, 1)).toBe(60_000);
  });

  test('full jitter is spread over the whole range, not bunched at its end', async () => {
    const { rows } = await db.pool.query(
      `select width_bucket(extract(epoch from leasehold.retry_delay(10, 1000, 100000, random())), 0, 100, 10) as tenth,
         count(*)::int as n
       from generate_series(1, 10000) group by 1 order by 1`,
    );
    expect(rows).toHaveLength(10);
    for (const { n } of rows as { n: number }[]) {
      // 1,000 expected in each tenth, standard deviation 30.
      expect(n).toBeGreaterThan(800);
      expect(n).toBeLessThan(1200);
    }
  });
});
