import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claimBatch } from '../../shared/queue/claim-batch.ts';
import { claim } from '../../shared/queue/claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { dueQueues } from '../../shared/queue/due-queues.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import type { QueueSettings } from '../../shared/queue/queue-settings.ts';
import { recordPush } from '../../shared/queue/record-push.ts';
import { setQueuePaused } from '../../shared/queue/set-queue-paused.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, expireLease, newJob } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const one = (queue: string) => claim(db.sql, { queue, owner: 'w', claimId: uuidv7() });
const batch = (queue: string, limit: number, more = {}) =>
  claimBatch(db.sql, { queue, owner: 'w', claimId: uuidv7(), limit, ...more });
const set = (queue: string, settings: Partial<QueueSettings>) =>
  configureQueue(db.sql, { queue, settings, actor: 'test' });
const fill = (queue: string, count: number, more = {}) =>
  enqueueBatch(db.sql, {
    jobs: Array.from({ length: count }, (_, i) => newJob({ queue, payload: i, ...more })),
    actor: 'test',
  });

describe('a concurrency limit', () => {
  test('S1.15 holds across claimers that race for the last places, and a finished job frees its place', async () => {
    await set('three', { concurrency_limit: 3 });
    await fill('three', 20);
    const answers = await Promise.all(Array.from({ length: 12 }, () => one('three')));
    const taken = answers.flatMap((answer) => (answer.outcome === 'claimed' ? [answer.job] : []));
    expect(taken).toHaveLength(3);
    const [first] = taken;
    if (first === undefined) throw new Error('nothing taken');
    await complete(db.sql, { ...first, owner: 'w' });
    expect((await one('three')).outcome).toBe('claimed');
    expect((await one('three')).outcome).toBe('empty');
  });

  test('an expired lease does not hold a place, and is taken again within the limit', async () => {
    await set('expired', { concurrency_limit: 1 });
    const jobId = await added(db.sql, { queue: 'expired' });
    await added(db.sql, { queue: 'expired' });
    await claimed(db.sql, 'expired');
    expect((await one('expired')).outcome).toBe('empty');
    await expireLease(db.pool, jobId);
    expect((await one('expired')).outcome).toBe('claimed');
    expect((await one('expired')).outcome).toBe('empty');
  });

  test('bounds a batch claim, and a null takes it away', async () => {
    await set('batch', { concurrency_limit: 4 });
    await fill('batch', 10);
    expect(await batch('batch', 10)).toHaveLength(4);
    await set('batch', { concurrency_limit: null });
    expect(await batch('batch', 10)).toHaveLength(6);
  });
});

describe('a rate limit', () => {
  test('lets so many start in any interval, whoever claims, and more when the interval has moved on', async () => {
    await set('rate', { rate_limit: 5, rate_interval_ms: 60_000 });
    await fill('rate', 20);
    const answers = await Promise.all(Array.from({ length: 9 }, () => one('rate')));
    expect(answers.filter((answer) => answer.outcome === 'claimed')).toHaveLength(5);
    // Two of the starts leave the interval.
    await db.pool.query(
      `update leasehold.rate_starts set at = at - interval '61 seconds'
       where ctid in (select ctid from leasehold.rate_starts where queue = 'rate' limit 2)`,
    );
    expect(await batch('rate', 10)).toHaveLength(2);
    expect((await one('rate')).outcome).toBe('empty');
  });

  test('of a key spaces the starts of that key alone', async () => {
    await set('key-rate', { key_rate_limit: 2, key_rate_interval_ms: 3_600_000 });
    await fill('key-rate', 4, { orderingKey: 'A' });
    const other = await added(db.sql, { queue: 'key-rate', orderingKey: 'B' });
    const starts = [];
    for (let i = 0; i < 3; i += 1) {
      const taken = await one('key-rate');
      if (taken.outcome === 'empty') break;
      starts.push(taken.job);
      await complete(db.sql, { ...taken.job, owner: 'w' });
    }
    expect(starts.map((job) => job.orderingKey)).toEqual(expect.arrayContaining(['A', 'A', 'B']));
    expect(starts.map((job) => job.jobId)).toContain(other);
    expect((await one('key-rate')).outcome).toBe('empty');
    const { rows } = await db.pool.query(
      `select count(*)::int as n, min(due_at) > clock_timestamp() + interval '59 minutes' as an_interval_later
       from leasehold.job_state where queue = 'key-rate' and lane < 9`,
    );
    expect(rows).toEqual([{ n: 1, an_interval_later: true }]);
  });

  test('costs a queue without limits nothing: no lock, no row', async () => {
    await fill('free', 3);
    const client = await db.pool.connect();
    try {
      await client.query('begin');
      await client.query(`select * from leasehold.claim('free', 'w', gen_random_uuid())`);
      const { rows } = await client.query(
        `select (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
           (select count(*)::int from leasehold.rate_starts where queue = 'free') as starts`,
      );
      // One lock: that of the claim id.
      expect(rows).toEqual([{ locks: 1, starts: 0 }]);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});

describe('a batch claim', () => {
  test('S1.17 is bounded by its limit and by what fits into the lease', async () => {
    await set('fits', { lease_seconds: 30 });
    await fill('fits', 60);
    const jobs = await batch('fits', 20, { secondsPerJob: 10 });
    expect(jobs.map((job) => job.payload)).toEqual([0, 1, 2]);
    expect(jobs.map((job) => job.leaseSeconds)).toEqual([30, 30, 30]);
    expect(await batch('fits', 100, { secondsPerJob: 10, leaseSeconds: 100 })).toHaveLength(10);
    expect(
      await batch('fits', 100, { secondsPerJob: 10, leaseSeconds: 100, leaseAtMost: 40 }),
    ).toHaveLength(4);
    expect(await batch('fits', 100, { secondsPerJob: 3600 })).toHaveLength(1);
    expect(await batch('fits', 20)).toHaveLength(20);
  });

  test('S1.17 limit and seconds per job are refused out of range', async () => {
    for (const limit of [0, 101])
      await expect(batch('fits', limit)).rejects.toThrow(/limit: must be/);
    for (const secondsPerJob of [0, 3601]) {
      await expect(batch('fits', 1, { secondsPerJob })).rejects.toThrow(/seconds_per_job: must be/);
    }
    for (const leaseAtMost of [0, 3601]) {
      await expect(batch('fits', 1, { leaseAtMost })).rejects.toThrow(/lease_at_most: must be/);
    }
  });

  test('B.3 a repeated claim id gives the same leases', async () => {
    await fill('again', 5);
    const ask = { queue: 'again', owner: 'w', claimId: uuidv7(), limit: 3 };
    const first = await claimBatch(db.sql, ask);
    const again = await claimBatch(db.sql, ask);
    const named = (jobs: typeof first) =>
      jobs.map((job) => `${job.jobId} ${job.fencingToken}`).sort();
    expect(named(again)).toEqual(named(first));
    expect(again).toHaveLength(3);
  });

  test('racing batches take every job once', async () => {
    await fill('race', 500);
    const seen: string[] = [];
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (;;) {
          const jobs = await batch('race', 20);
          if (jobs.length === 0) return;
          seen.push(...jobs.map((job) => job.jobId));
        }
      }),
    );
    expect(seen).toHaveLength(500);
    expect(new Set(seen).size).toBe(500);
  });

  test('takes urgent work and crashed work with the rest, and tells whether there is more', async () => {
    await fill('mixed', 2, { priority: 'low' });
    await fill('mixed', 2, { priority: 'urgent' });
    const jobs = await batch('mixed', 3);
    expect(jobs.map((job) => job.priority)).toEqual(['urgent', 'urgent', 'low']);
    expect(jobs.at(-1)?.moreDue).toBe(true);
    expect((await batch('mixed', 3)).map((job) => job.moreDue)).toEqual([false]);
  });
});

describe('leasehold.set_queue_paused', () => {
  test('stops the claims of one queue, and running jobs go on', async () => {
    await fill('paused', 3);
    const running = await claimed(db.sql, 'paused');
    expect(
      await setQueuePaused(db.sql, { queue: 'paused', paused: true, actor: 'maria', reason: 'r' }),
    ).toEqual({
      changed: true,
    });
    expect((await one('paused')).outcome).toBe('empty');
    expect(
      (await dueQueues(db.sql, { limit: 100, perQueue: 1 })).queues.map((queue) => queue.queue),
    ).not.toContain('paused');
    expect((await complete(db.sql, running)).outcome).toBe('succeeded');
    expect(await setQueuePaused(db.sql, { queue: 'paused', paused: true, actor: 'maria' })).toEqual(
      { changed: false },
    );
    await setQueuePaused(db.sql, { queue: 'paused', paused: false, actor: 'maria' });
    expect((await one('paused')).outcome).toBe('claimed');
    const { rows } = await db.pool.query(
      `select type, actor from leasehold.queue_events where queue = 'paused' order by id`,
    );
    expect(rows).toEqual([
      { type: 'paused', actor: 'maria' },
      { type: 'resumed', actor: 'maria' },
    ]);
    await expect(db.pool.query('delete from leasehold.queue_events')).rejects.toMatchObject({
      code: 'LH003',
    });
  });

  test('a lost answer to a claim is found again although the queue was paused meanwhile', async () => {
    await fill('paused-late', 1);
    const ask = { queue: 'paused-late', owner: 'w', claimId: uuidv7() };
    const first = await claim(db.sql, ask);
    await setQueuePaused(db.sql, { queue: 'paused-late', paused: true, actor: 'maria' });
    expect(await claim(db.sql, ask)).toMatchObject({ outcome: first.outcome });
  });
});

describe('leasehold.record_push', () => {
  test('case J7 a target that fails five times rests, longer each time, and a success ends it', async () => {
    await set('push', { delivery: 'push', target_url: 'https://example.com/' });
    await fill('push', 2);
    for (let i = 0; i < 4; i += 1) {
      expect(await recordPush(db.sql, { queue: 'push', ok: false })).toEqual({ resumeAt: null });
    }
    expect((await one('push')).outcome).toBe('claimed');
    const fifth = await recordPush(db.sql, { queue: 'push', ok: false });
    expect(fifth.resumeAt).toBeInstanceOf(Date);
    expect((await one('push')).outcome).toBe('empty');
    const sixth = await recordPush(db.sql, { queue: 'push', ok: false });
    expect(Number(sixth.resumeAt)).toBeGreaterThan(Number(fifth.resumeAt) + 4_000);
    for (let i = 0; i < 20; i += 1) await recordPush(db.sql, { queue: 'push', ok: false });
    const { rows } = await db.pool.query(
      `select push_resume_at < clock_timestamp() + interval '601 seconds' as bounded from leasehold.queues where name = 'push'`,
    );
    expect(rows).toEqual([{ bounded: true }]);
    await recordPush(db.sql, { queue: 'push', ok: true });
    expect((await one('push')).outcome).toBe('claimed');
  });
});
