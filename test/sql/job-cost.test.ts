import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { measureJobCosts, STAGES, type JobCost, type Stage } from './support/job-cost.ts';
import { withoutAutovacuum } from './support/old-snapshot.ts';

/** What a job may cost at most; `npm run prove -- plans` prints what it does cost. */
const BOUNDS: Readonly<Record<Stage, Omit<JobCost, 'roundTrips' | 'commits'>>> = {
  'enqueue, one a call': { walBytes: 1_000, indexEntries: 5, pages: 30 },
  'enqueue, 1,000 a call': { walBytes: 950, indexEntries: 5, pages: 30 },
  claim: { walBytes: 1_000, indexEntries: 5, pages: 50 },
  complete: { walBytes: 880, indexEntries: 4, pages: 30 },
  'complete and claim': { walBytes: 1_850, indexEntries: 9, pages: 75 },
};

let db: TestDatabase;
let costs: Readonly<Record<Stage, JobCost>>;
beforeAll(async () => {
  db = await createTestDatabase();
  await withoutAutovacuum(db.pool);
  costs = await measureJobCosts(db.pool);
});
afterAll(() => db.drop());

describe('what a job costs', () => {
  test('B.6 one round trip and one commit where each report takes the next job, two of each otherwise', () => {
    const { claim, complete, 'complete and claim': fused } = costs;
    expect([fused.roundTrips, fused.commits]).toEqual([1, 1]);
    expect(claim.roundTrips + complete.roundTrips).toBe(2);
    expect(claim.commits + complete.commits).toBe(2);
  });

  test('a call of 1,000 new jobs is one round trip and one commit', () => {
    const { roundTrips, commits } = costs['enqueue, 1,000 a call'];
    expect([roundTrips, commits]).toEqual([1 / 1_000, 1 / 1_000]);
  });

  test.each(STAGES)('%s: log, index entries and pages stay within their bounds', (stage) => {
    const { walBytes, indexEntries, pages } = BOUNDS[stage];
    expect(costs[stage].walBytes).toBeLessThan(walBytes);
    expect(costs[stage].indexEntries).toBe(indexEntries);
    expect(costs[stage].pages).toBeLessThan(pages);
  });

  test('one call writes no more log than the two that it stands for', () => {
    const { claim, complete, 'complete and claim': fused } = costs;
    // A page of an index that was split in one of them counts for some bytes a job.
    expect(fused.walBytes).toBeLessThan(1.05 * (claim.walBytes + complete.walBytes));
  });

  test('the measure sees a fault: one more index on the live table is one more entry a claim, and more log', async () => {
    await db.pool.query('create index one_more on leasehold.job_state (due_at)');
    const { claim } = await measureJobCosts(db.pool, ['claim']);
    // A split of a page counts as an entry too.
    expect(claim.indexEntries).toBeGreaterThanOrEqual(costs.claim.indexEntries + 1);
    expect(claim.walBytes).toBeGreaterThan(costs.claim.walBytes + 50);
  });
});
