import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claim } from '../../shared/queue/claim.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { enqueue } from '../../shared/queue/enqueue.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  added,
  attemptsOf,
  claimed,
  eventTypes,
  expireLease,
  newJob,
} from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

describe('leasehold.settle_expired_lease, through the claim', () => {
  test('S1.7 S2.2 the first expiry is claimed at once by whoever comes next, with no other process', async () => {
    const jobId = await added(db.sql, { queue: 'crash' });
    const first = await claimed(db.sql, 'crash', 'dies');
    await expireLease(db.pool, jobId);
    const second = await claimed(db.sql, 'crash', 'lives');
    expect(second).toMatchObject({ jobId, attempt: 2, owner: 'lives' });
    expect(await attemptsOf(db.pool, jobId)).toMatchObject([
      {
        fencing_token: first.fencingToken,
        owner: 'dies',
        outcome: 'lease_expired',
        next_state: 'pending',
      },
    ]);
    expect(await eventTypes(db.pool, jobId)).toEqual([
      'created',
      'claimed',
      'lease_expired',
      'claimed',
    ]);
  });

  test('a job that keeps killing its function waits with backoff and lets others pass', async () => {
    await configureQueue(db.sql, {
      queue: 'killer',
      settings: { backoff_base_ms: 3_600_000, backoff_cap_ms: 86_400_000 },
      actor: 'test',
    });
    const killer = await added(db.sql, { queue: 'killer' });
    for (let i = 0; i < 2; i += 1) {
      await claimed(db.sql, 'killer');
      await expireLease(db.pool, killer);
    }
    const healthy = await added(db.sql, { queue: 'killer' });
    expect((await claimed(db.sql, 'killer')).jobId).toBe(healthy);
    // The killer is met by this claim or by the one before, and is put back behind its backoff.
    expect(await claim(db.sql, { queue: 'killer', owner: 'w', claimId: uuidv7() })).toEqual({
      outcome: 'empty',
    });
    const job = await getJob(db.sql, { jobId: killer });
    expect(job).toMatchObject({ state: 'pending', waiting_for: 'time', attempt: 2 });
  });

  test('S1.10 case F3 a job that never reports is dead after its attempts, visible, with the reason', async () => {
    await configureQueue(db.sql, {
      queue: 'hangs',
      settings: { backoff_base_ms: 0 },
      actor: 'test',
    });
    const jobId = await added(db.sql, { queue: 'hangs', maxAttempts: 3 });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const job = await claimed(db.sql, 'hangs');
      expect(job.attempt).toBe(attempt);
      await expireLease(db.pool, jobId);
    }
    expect(await claim(db.sql, { queue: 'hangs', owner: 'w', claimId: uuidv7() })).toEqual({
      outcome: 'empty',
    });
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'dead',
      attempt: 3,
      payload: { to: 'a@example.com' },
      dead: { reason: 'lease_expired', error: { code: 'lease_expired' } },
      attempts: [
        { outcome: 'lease_expired' },
        { outcome: 'lease_expired' },
        { next_state: 'dead' },
      ],
    });
  });

  test('leases with no attempts left do not hide healthy work, however many there are', async () => {
    const doomed = [];
    for (let i = 0; i < 9; i += 1) {
      doomed.push(await added(db.sql, { queue: 'graves', maxAttempts: 1 }));
      await claimed(db.sql, 'graves');
    }
    for (const jobId of doomed) await expireLease(db.pool, jobId);
    const healthy = await added(db.sql, { queue: 'graves' });
    expect((await claimed(db.sql, 'graves')).jobId).toBe(healthy);
    for (let i = 0; i < 4; i += 1) {
      expect(await claim(db.sql, { queue: 'graves', owner: 'w', claimId: uuidv7() })).toEqual({
        outcome: 'empty',
      });
    }
    const { rows } = await db.pool.query(
      `select count(*)::int as n from leasehold.dead_letters where queue = 'graves'`,
    );
    expect(rows).toEqual([{ n: 9 }]);
  });

  test('crashed work cannot hold up fresh work: lane 0 yields to it about every second time', async () => {
    const crashed = [];
    for (let i = 0; i < 40; i += 1) {
      crashed.push(await added(db.sql, { queue: 'shared' }));
      await claimed(db.sql, 'shared');
    }
    for (const jobId of crashed) await expireLease(db.pool, jobId);
    for (let i = 0; i < 40; i += 1) await added(db.sql, { queue: 'shared' });
    const attempts = [];
    for (let i = 0; i < 40; i += 1) attempts.push((await claimed(db.sql, 'shared')).attempt);
    const fresh = attempts.filter((attempt) => attempt === 1).length;
    // Binomial(40, 1/2): outside 6 to 34 once in a million runs.
    expect(fresh).toBeGreaterThan(5);
    expect(fresh).toBeLessThan(35);
  });

  test('one row kept locked by someone else is passed over', async () => {
    const locked = await added(db.sql, { queue: 'locked' });
    const free = await added(db.sql, { queue: 'locked' });
    const client = await db.pool.connect();
    try {
      await client.query('begin');
      await client.query('select 1 from leasehold.job_state where job_id = $1 for update', [
        locked,
      ]);
      expect((await claimed(db.sql, 'locked')).jobId).toBe(free);
      expect(await claim(db.sql, { queue: 'locked', owner: 'w', claimId: uuidv7() })).toEqual({
        outcome: 'empty',
      });
    } finally {
      await client.query('rollback');
      client.release();
    }
    expect((await claimed(db.sql, 'locked')).jobId).toBe(locked);
  });

  test('200 queues of 50 jobs each give exactly their own jobs', async () => {
    const odd = ['"quoted"', "it's", 'émoji 🦖', 'semi;colon', 'q'.repeat(128)];
    const queues = [...odd, ...Array.from({ length: 195 }, (_, i) => `bulk ${i}`)];
    const { enqueueBatch } = await import('../../shared/queue/enqueue-batch.ts');
    for (const queue of queues) {
      const jobs = Array.from({ length: 50 }, () => newJob({ queue }));
      await enqueueBatch(db.sql, { jobs, actor: 'test' });
    }
    const perQueue = new Map<string, Set<string>>();
    await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        for (let i = worker; i < queues.length; i += 8) {
          const queue = queues[i] ?? '';
          const seen = new Set<string>();
          for (;;) {
            const taken = await claim(db.sql, { queue, owner: `w${worker}`, claimId: uuidv7() });
            if (taken.outcome === 'empty') break;
            expect(taken.job.queue).toBe(queue);
            seen.add(taken.job.jobId);
          }
          perQueue.set(queue, seen);
        }
      }),
    );
    expect([...perQueue.values()].map((seen) => seen.size)).toEqual(queues.map(() => 50));
    await expect(
      enqueue(db.sql, { job: newJob({ queue: 'q'.repeat(300) }), actor: 'test' }),
    ).rejects.toThrow(/1 to 128 characters/);
  }, 120_000);
});
