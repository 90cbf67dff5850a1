import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claim } from '../../shared/queue/claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import type { Priority } from '../../shared/queue/new-job.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { newJob } from '../sql/support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** Each step stands for this much time: everything that waits is made that much older. */
const STEP_SECONDS = 10;
const STEPS = 180;
/** Ten of high priority to one of low, and a fifth more than can be served. */
const ARRIVALS = 12;
const SERVED = 10;
/** Two classes lie between high and low, five minutes each: documented at leasehold.claim. */
const BONUS_SECONDS = 600;

describe('priorities under a flood', () => {
  test('S1.13 at 120 % load and ten high to one low, a low job waits no longer than a high one of its time plus the bonus', async () => {
    const queue = 'flood';
    let clock = 0;
    let sinceLow = 0;
    const arrivedAt = new Map<string, number>();
    const waits: Record<'high' | 'low', number[]> = { high: [], low: [] };

    for (let step = 0; step < STEPS; step += 1) {
      clock += STEP_SECONDS;
      await db.pool.query(
        `update leasehold.job_state set due_at = due_at - make_interval(secs => $2) where queue = $1`,
        [queue, STEP_SECONDS],
      );
      const jobs = Array.from({ length: ARRIVALS }, () => {
        sinceLow = (sinceLow + 1) % 11;
        const priority: Priority = sinceLow === 0 ? 'low' : 'high';
        return newJob({ queue, priority, id: uuidv7() });
      });
      await enqueueBatch(db.sql, { jobs, actor: 'test' });
      for (const job of jobs) arrivedAt.set(job.id, clock);
      for (let i = 0; i < SERVED; i += 1) {
        const taken = await claim(db.sql, { queue, owner: 'w', claimId: uuidv7() });
        if (taken.outcome === 'empty') break;
        const { jobId, priority } = taken.job;
        waits[priority === 'low' ? 'low' : 'high'].push(clock - (arrivedAt.get(jobId) ?? 0));
        await complete(db.sql, { ...taken.job, owner: 'w' });
      }
    }

    // Low jobs are served while the flood goes on, about as many as came in the time that they are old enough for.
    expect(waits.low.length).toBeGreaterThan(80);
    const longestHigh = Math.max(...waits.high);
    const longestLow = Math.max(...waits.low);
    expect(longestLow).toBeLessThanOrEqual(longestHigh + BONUS_SECONDS + STEP_SECONDS);
    // And it is a preference: a high job waits less.
    expect(longestLow).toBeGreaterThan(longestHigh);
  }, 120_000);
});
