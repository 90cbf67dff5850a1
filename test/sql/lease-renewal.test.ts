import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { getJob } from '../../shared/queue/get-job.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

async function shorten(jobId: string): Promise<void> {
  await db.pool.query(
    `update leasehold.job_state set due_at = clock_timestamp() + interval '5 seconds' where job_id = $1`,
    [jobId],
  );
}

describe('leasehold.heartbeat', () => {
  test('S1.5 a step that was counted once earns nothing again, though a smaller one came between', async () => {
    const jobId = await added(db.sql, { queue: 'steps' });
    const job = await claimed(db.sql, 'steps');
    await heartbeat(db.sql, { ...job, step: 5 });
    await heartbeat(db.sql, { ...job, step: 1, progress: 'moved' });
    await shorten(jobId);
    const stale = await heartbeat(db.sql, { ...job, step: 5 });
    expect(stale.outcome === 'held' && stale.leaseRemainingMs).toBeLessThan(6_000);
  });

  test('renews by the lease of the claim when none is asked for', async () => {
    await configureQueue(db.sql, {
      queue: 'long',
      settings: { lease_seconds: 300 },
      actor: 'test',
    });
    const jobId = await added(db.sql, { queue: 'long' });
    const { owner, fencingToken } = await claimed(db.sql, 'long');
    await shorten(jobId);
    const beat = await heartbeat(db.sql, { jobId, owner, fencingToken, step: 1 });
    expect(beat.outcome === 'held' && beat.leaseRemainingMs).toBeGreaterThan(290_000);
  });

  test('a beat without a marker keeps the last one', async () => {
    const jobId = await added(db.sql, { queue: 'marker' });
    const job = await claimed(db.sql, 'marker');
    await heartbeat(db.sql, { ...job, step: 1, progress: 'half' });
    await heartbeat(db.sql, { ...job, step: 2 });
    expect((await getJob(db.sql, { jobId }))?.lease?.progress).toBe('half');
  });
});
