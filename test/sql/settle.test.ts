import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dueQueues } from '../../shared/queue/due-queues.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { settle } from '../../shared/queue/settle.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, attemptsOf, claimed, eventTypes, expireLease } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

describe('leasehold.settle', () => {
  test('S1.7 leases of a queue that nobody claims are settled: pending while attempts remain, else dead', async () => {
    const again = await added(db.sql, { queue: 'nobody' });
    const last = await added(db.sql, { queue: 'nobody', maxAttempts: 1 });
    const live = await added(db.sql, { queue: 'nobody' });
    for (let i = 0; i < 3; i += 1) await claimed(db.sql, 'nobody');
    await expireLease(db.pool, again);
    await expireLease(db.pool, last);
    expect(await settle(db.sql, { queue: 'nobody', limit: 10, actor: 'drain' })).toEqual({
      settled: 2,
    });
    expect(await getJob(db.sql, { jobId: again })).toMatchObject({
      state: 'pending',
      attempt: 1,
      lease: null,
    });
    expect(await getJob(db.sql, { jobId: last })).toMatchObject({
      state: 'dead',
      dead: { reason: 'lease_expired' },
    });
    expect(await getJob(db.sql, { jobId: live })).toMatchObject({ state: 'running' });
    expect(await eventTypes(db.pool, last)).toEqual([
      'created',
      'claimed',
      'lease_expired',
      'dead',
    ]);
    expect(await settle(db.sql, { queue: 'nobody', limit: 10, actor: 'drain' })).toEqual({
      settled: 0,
    });
    expect((await claimed(db.sql, 'nobody')).jobId).toBe(again);
  });

  test('the limit bounds one call', async () => {
    for (let i = 0; i < 5; i += 1) {
      const jobId = await added(db.sql, { queue: 'many' });
      await claimed(db.sql, 'many');
      await db.pool.query('update leasehold.job_state set lease_expiries = 1 where job_id = $1', [
        jobId,
      ]);
    }
    await db.pool.query(
      `update leasehold.job_state set due_at = clock_timestamp() where queue = 'many' and lane = 0`,
    );
    const settled = [];
    for (let i = 0; i < 3; i += 1) {
      settled.push((await settle(db.sql, { queue: 'many', limit: 2, actor: 'drain' })).settled);
    }
    expect(settled).toEqual([2, 2, 1]);
  });

  test.each(['completes', 'fails and is claimed again', 'beats'])(
    'case C1 the owner %s between the settling read and its write: nothing of it is undone',
    async (what) => {
      const queue = `race ${what}`;
      const jobId = await added(db.sql, { queue });
      const job = await claimed(db.sql, queue);
      const owner = await db.pool.connect();
      try {
        // The owner's transaction holds the row first, while its lease is still good, and commits after settling began.
        await owner.query('begin');
        if (what === 'completes') {
          await owner.query('select leasehold.complete($1, $2, $3)', [
            jobId,
            job.owner,
            job.fencingToken,
          ]);
        } else if (what === 'beats') {
          await owner.query('select leasehold.heartbeat($1, $2, $3, 1)', [
            jobId,
            job.owner,
            job.fencingToken,
          ]);
        } else {
          await owner.query(`select leasehold.fail($1, $2, $3, '{}')`, [
            jobId,
            job.owner,
            job.fencingToken,
          ]);
          await owner.query(
            'update leasehold.job_state set due_at = clock_timestamp() where job_id = $1',
            [jobId],
          );
          await owner.query(`select leasehold.claim($1, 'next', gen_random_uuid())`, [queue]);
        }
        const during = settle(db.sql, { queue, limit: 10, actor: 'drain' });
        expect(await during).toEqual({ settled: 0 });
        await owner.query('commit');
      } finally {
        owner.release();
      }
      expect(await settle(db.sql, { queue, limit: 10, actor: 'drain' })).toEqual({ settled: 0 });
      const outcomes = (await attemptsOf(db.pool, jobId)).map((attempt) => attempt['outcome']);
      expect(outcomes).not.toContain('lease_expired');
      expect(await eventTypes(db.pool, jobId)).not.toContain('lease_expired');
    },
  );

  test('case C1 the settling transaction comes first: the owner that comes late is told lease_lost', async () => {
    const jobId = await added(db.sql, { queue: 'settled-first' });
    const job = await claimed(db.sql, 'settled-first');
    await expireLease(db.pool, jobId);
    const drain = await db.pool.connect();
    const owner = await db.pool.connect();
    try {
      await drain.query('begin');
      await drain.query(`select leasehold.settle('settled-first', 10, 'drain')`);
      const late = owner.query('select outcome from leasehold.complete($1, $2, $3)', [
        jobId,
        job.owner,
        job.fencingToken,
      ]);
      await drain.query('commit');
      expect((await late).rows).toEqual([{ outcome: 'lease_lost' }]);
    } finally {
      drain.release();
      owner.release();
    }
    expect(await eventTypes(db.pool, jobId)).toEqual(['created', 'claimed', 'lease_expired']);
  });
});

describe('leasehold.due_queues', () => {
  test('lists queues with due work, longest waiting first, counted up to a cap', async () => {
    await db.pool.query('delete from leasehold.job_state');
    for (let i = 0; i < 4; i += 1) await added(db.sql, { queue: 'busy' });
    const old = await added(db.sql, { queue: 'old', priority: 'low' });
    await db.pool.query(
      `update leasehold.job_state set due_at = due_at - interval '1 hour' where job_id = $1`,
      [old],
    );
    await added(db.sql, { queue: 'later', delayMs: 60_000 });
    const expired = await added(db.sql, { queue: 'crashed' });
    await claimed(db.sql, 'crashed');
    await expireLease(db.pool, expired);
    await added(db.sql, { queue: 'running' });
    await claimed(db.sql, 'running');
    const { queues: due } = await dueQueues(db.sql, { limit: 10, perQueue: 3 });
    expect(due.map((one) => [one.queue, one.due, one.expired])).toEqual([
      ['old', 1, 0],
      ['busy', 3, 0],
      ['crashed', 1, 1],
    ]);
    expect((await dueQueues(db.sql, { limit: 1, perQueue: 3 })).queues).toHaveLength(1);
    await db.pool.query('delete from leasehold.job_state');
    expect((await dueQueues(db.sql, { limit: 10, perQueue: 3 })).queues).toEqual([]);
  });
});

describe('leasehold.has_due', () => {
  test('sees due work in any lane, and neither live leases nor later work', async () => {
    const hasDue = async (queue: string): Promise<unknown> =>
      (await db.pool.query('select leasehold.has_due($1, clock_timestamp()) as due', [queue]))
        .rows[0];
    await added(db.sql, { queue: 'hint', delayMs: 60_000 });
    expect(await hasDue('hint')).toEqual({ due: false });
    for (const priority of ['urgent', 'high', 'normal', 'low'] as const) {
      const jobId = await added(db.sql, { queue: 'hint', priority });
      expect(await hasDue('hint')).toEqual({ due: true });
      await claimed(db.sql, 'hint');
      expect(await hasDue('hint')).toEqual({ due: false });
      await expireLease(db.pool, jobId);
      expect(await hasDue('hint')).toEqual({ due: true });
      await claimed(db.sql, 'hint');
    }
  });
});
