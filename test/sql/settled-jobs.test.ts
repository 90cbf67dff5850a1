import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claim } from '../../shared/queue/claim.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { settle } from '../../shared/queue/settle.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, attemptsOf, claimed, expireLease, makeDue } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const settled = (queue: string) => settle(db.sql, { queue, limit: 10, actor: 'drain' });

/** A lease that is good now and over in a moment. */
async function nearlyOver(jobId: string): Promise<void> {
  await db.pool.query(
    `update leasehold.job_state set due_at = clock_timestamp() + interval '1 second' where job_id = $1`,
    [jobId],
  );
}

async function leaseIsOver(jobId: string): Promise<boolean> {
  const { rows } = await db.pool.query<{ over: boolean }>(
    'select due_at <= clock_timestamp() as over from leasehold.job_state where job_id = $1',
    [jobId],
  );
  return rows[0]?.over === true;
}

describe('leasehold.settle', () => {
  test.each([
    ['completes', 'select leasehold.complete($1, $2, $3)'],
    ['fails', `select leasehold.fail($1, $2, $3, '{}')`],
    ['beats', 'select leasehold.heartbeat($1, $2, $3, 1)'],
  ])(
    'case C1 the owner %s in time and commits after the expiry: settling passes the row over',
    async (what, report) => {
      const queue = `late commit: ${what}`;
      const jobId = await added(db.sql, { queue });
      const job = await claimed(db.sql, queue);
      await nearlyOver(jobId);
      const owner = await db.pool.connect();
      try {
        await owner.query('begin');
        await owner.query(report, [jobId, job.owner, job.fencingToken]);
        await expect.poll(() => leaseIsOver(jobId), { timeout: 10_000 }).toBe(true);
        expect(await settled(queue)).toEqual({ settled: 0 });
        await owner.query('commit');
      } finally {
        owner.release();
      }
      expect(await settled(queue)).toEqual({ settled: 0 });
      const outcomes = (await attemptsOf(db.pool, jobId)).map((attempt) => attempt['outcome']);
      expect(outcomes).not.toContain('lease_expired');
    },
  );

  test('puts a job back into the lane of its priority, at the first expiry and at later ones', async () => {
    const queue = 'lanes';
    await configureQueue(db.sql, { queue, settings: { backoff_base_ms: 0 }, actor: 'test' });
    const low = await added(db.sql, { queue, priority: 'low' });
    for (let expiry = 0; expiry < 2; expiry += 1) {
      expect((await claimed(db.sql, queue)).jobId).toBe(low);
      await expireLease(db.pool, low);
      expect(await settled(queue)).toEqual({ settled: 1 });
      await makeDue(db.pool, low);
      const normal = await added(db.sql, { queue, priority: 'normal' });
      expect((await claimed(db.sql, queue)).jobId).toBe(normal);
    }
  });

  test('a job whose lease keeps expiring waits with backoff, whoever settles it', async () => {
    const queue = 'killer';
    await configureQueue(db.sql, {
      queue,
      settings: { backoff_base_ms: 2_592_000_000, backoff_cap_ms: 2_592_000_000 },
      actor: 'test',
    });
    // Longer than any backoff: a retry beyond the budget would be the end of the job.
    const jobId = await added(db.sql, { queue, maxAttempts: 9, retryBudgetSeconds: 31_622_400 });
    await claimed(db.sql, queue);
    await expireLease(db.pool, jobId);
    await settled(queue);
    await claimed(db.sql, queue); // the first expiry: due at once
    await expireLease(db.pool, jobId);
    await settled(queue);
    expect(await claim(db.sql, { queue, owner: 'w', claimId: uuidv7() })).toEqual({
      outcome: 'empty',
    });
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'pending',
      waiting_for: 'time',
    });
    // And the third as well: the count goes on.
    await makeDue(db.pool, jobId);
    await claimed(db.sql, queue);
    await expireLease(db.pool, jobId);
    await settled(queue);
    expect(await getJob(db.sql, { jobId })).toMatchObject({ waiting_for: 'time' });
  });

  test('one call settles 100 at most, whatever it is asked for', async () => {
    const queue = 'crowd';
    for (let at = 0; at < 101; at += 1) {
      await added(db.sql, { queue, maxAttempts: 1 });
      await claimed(db.sql, queue);
    }
    await db.pool.query(
      'update leasehold.job_state set due_at = clock_timestamp() where queue = $1 and lane = 0',
      [queue],
    );
    expect(await settle(db.sql, { queue, limit: 1000, actor: 'drain' })).toEqual({ settled: 100 });
    expect(await settle(db.sql, { queue, limit: -1, actor: 'drain' })).toEqual({ settled: 0 });
    expect(await settle(db.sql, { queue, limit: 1000, actor: 'drain' })).toEqual({ settled: 1 });
  });
});
