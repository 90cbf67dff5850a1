import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uuidv7 } from 'uuidv7';
import { blockedKeys } from '../../shared/queue/blocked-keys.ts';
import { cancel } from '../../shared/queue/cancel.ts';
import { claim } from '../../shared/queue/claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { discard } from '../../shared/queue/discard.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { redrive } from '../../shared/queue/redrive.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, expireLease, makeDue, newJob } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const error = { code: 'timeout', message: 'No answer.' };
const empty = async (queue: string): Promise<void> =>
  expect(await claim(db.sql, { queue, owner: 'w', claimId: uuidv7() })).toEqual({
    outcome: 'empty',
  });
const key = (queue: string, orderingKey: string, more = {}): Promise<string> =>
  added(db.sql, { queue, orderingKey, ...more });

describe('an ordering key', () => {
  test('S1.14 only the first unfinished job can be claimed, and others go on', async () => {
    const a1 = await key('order', 'A');
    const a2 = await key('order', 'A', { priority: 'urgent' });
    const b1 = await key('order', 'B');
    const free = await added(db.sql, { queue: 'order' });
    const first = await claimed(db.sql, 'order');
    expect(first.jobId).toBe(a1);
    expect(
      [await claimed(db.sql, 'order'), await claimed(db.sql, 'order')].map((job) => job.jobId),
    ).toEqual([b1, free]);
    await empty('order');
    expect(await getJob(db.sql, { jobId: a2 })).toMatchObject({
      state: 'pending',
      waiting_for: 'ordering_key',
    });
    expect(await blockedKeys(db.sql, { queue: 'order', limit: 10 })).toEqual([
      { orderingKey: 'A', waiting: 1, blockedBy: a1, blockedByState: 'running' },
    ]);
    await complete(db.sql, first);
    expect((await claimed(db.sql, 'order')).jobId).toBe(a2);
  });

  test('the order is that of adding, whatever the due times and within a batch', async () => {
    const jobs = [3000, 0, 1000].map((delayMs, i) =>
      newJob({ queue: 'added', orderingKey: 'A', delayMs, payload: i }),
    );
    await enqueueBatch(db.sql, { jobs, actor: 'test' });
    await empty('added');
    for (const job of jobs) {
      await makeDue(db.pool, job.id);
      const lease = await claimed(db.sql, 'added');
      expect(lease.jobId).toBe(job.id);
      await complete(db.sql, lease);
    }
  });

  test('case E3 a head that waits to be retried holds its key back, and B runs', async () => {
    const a1 = await key('retry', 'A');
    const a2 = await key('retry', 'A');
    await key('retry', 'A');
    await configureQueue(db.sql, {
      queue: 'retry',
      settings: { backoff_base_ms: 3_600_000 },
      actor: 'test',
    });
    await fail(db.sql, { ...(await claimed(db.sql, 'retry')), error, failureClass: 'transient' });
    const b1 = await key('retry', 'B');
    expect((await claimed(db.sql, 'retry')).jobId).toBe(b1);
    for (let i = 0; i < 10; i += 1) await empty('retry');
    await makeDue(db.pool, a1);
    const again = await claimed(db.sql, 'retry');
    expect(again.jobId).toBe(a1);
    await complete(db.sql, again);
    expect((await claimed(db.sql, 'retry')).jobId).toBe(a2);
  });

  test('S1.14 a dead head blocks its key until it is discarded (block)', async () => {
    const a1 = await key('block', 'A');
    const a2 = await key('block', 'A');
    await fail(db.sql, { ...(await claimed(db.sql, 'block')), error, failureClass: 'permanent' });
    await empty('block');
    const late = await key('block', 'A');
    await empty('block');
    expect(await blockedKeys(db.sql, { queue: 'block', limit: 10 })).toEqual([
      { orderingKey: 'A', waiting: 2, blockedBy: a1, blockedByState: 'dead' },
    ]);
    await discard(db.sql, { jobIds: [a1], reason: 'not needed', actor: 'maria' });
    const next = await claimed(db.sql, 'block');
    expect(next.jobId).toBe(a2);
    await complete(db.sql, next);
    expect((await claimed(db.sql, 'block')).jobId).toBe(late);
  });

  test('S1.14 a dead head that is redriven takes its old place (block)', async () => {
    const a1 = await key('again', 'A');
    const a2 = await key('again', 'A');
    await fail(db.sql, { ...(await claimed(db.sql, 'again')), error, failureClass: 'permanent' });
    await redrive(db.sql, { jobIds: [a1], reason: 'fixed', actor: 'maria' });
    const back = await claimed(db.sql, 'again');
    expect(back.jobId).toBe(a1);
    await empty('again');
    await complete(db.sql, back);
    expect((await claimed(db.sql, 'again')).jobId).toBe(a2);
  });

  test('S1.14 a dead head lets the next one go (continue)', async () => {
    await configureQueue(db.sql, {
      queue: 'continue',
      settings: { on_dead: 'continue' },
      actor: 'test',
    });
    await key('continue', 'A');
    const a2 = await key('continue', 'A');
    await fail(db.sql, {
      ...(await claimed(db.sql, 'continue')),
      error,
      failureClass: 'permanent',
    });
    expect((await claimed(db.sql, 'continue')).jobId).toBe(a2);
  });

  test('S1.14 a dead head holds back its own queue alone', async () => {
    await key('one', 'same');
    await fail(db.sql, { ...(await claimed(db.sql, 'one')), error, failureClass: 'permanent' });
    const other = await key('two', 'same');
    expect((await claimed(db.sql, 'two')).jobId).toBe(other);
  });

  test('a crashed head is run again before the next, and its death frees or blocks like any other', async () => {
    const a1 = await key('crash', 'A', { maxAttempts: 2 });
    const a2 = await key('crash', 'A');
    await configureQueue(db.sql, {
      queue: 'crash',
      settings: { on_dead: 'continue' },
      actor: 'test',
    });
    await claimed(db.sql, 'crash');
    await expireLease(db.pool, a1);
    expect(await claimed(db.sql, 'crash')).toMatchObject({ jobId: a1, attempt: 2 });
    await expireLease(db.pool, a1);
    expect((await claimed(db.sql, 'crash')).jobId).toBe(a2);
    expect((await getJob(db.sql, { jobId: a1 }))?.state).toBe('dead');
  });

  test('a head that is called off lets the next one go, and so does a parked one in between', async () => {
    const a1 = await key('cancel', 'A');
    const a2 = await key('cancel', 'A');
    const a3 = await key('cancel', 'A');
    await cancel(db.sql, { jobId: a2, actor: 'test' });
    await cancel(db.sql, { jobId: a1, actor: 'test' });
    expect((await claimed(db.sql, 'cancel')).jobId).toBe(a3);
  });

  test('key_concurrency lets that many jobs of a key run, still started in order', async () => {
    await configureQueue(db.sql, { queue: 'two', settings: { key_concurrency: 2 }, actor: 'test' });
    const ids = [await key('two', 'A'), await key('two', 'A'), await key('two', 'A')];
    const first = await claimed(db.sql, 'two');
    const second = await claimed(db.sql, 'two');
    expect([first.jobId, second.jobId]).toEqual(ids.slice(0, 2));
    await empty('two');
    await complete(db.sql, second);
    expect((await claimed(db.sql, 'two')).jobId).toBe(ids[2]);
  });

  test('case E1 a blocked key at the front costs the other keys nothing: same pages with 2,000 of it as with none', async () => {
    const head = await key('deep', 'A');
    await fail(db.sql, { ...(await claimed(db.sql, 'deep')), error, failureClass: 'permanent' });
    for (let i = 0; i < 2; i += 1) {
      await enqueueBatch(db.sql, {
        jobs: Array.from({ length: 1000 }, () => newJob({ queue: 'deep', orderingKey: 'A' })),
        actor: 'test',
      });
    }
    const b = await key('deep', 'B');
    expect((await claimed(db.sql, 'deep')).jobId).toBe(b);
    expect(await blockedKeys(db.sql, { queue: 'deep', limit: 10 })).toEqual([
      { orderingKey: 'A', waiting: 1000, blockedBy: head, blockedByState: 'dead' },
    ]);
  });

  test('case E5 adding to a key and finishing its head at the same time never leaves a job waiting for nobody', async () => {
    for (let round = 0; round < 150; round += 1) {
      const orderingKey = `round ${round}`;
      await key('e5', orderingKey);
      const head = await claimed(db.sql, 'e5');
      const [second] = await Promise.all([key('e5', orderingKey), complete(db.sql, head)]);
      const next = await claimed(db.sql, 'e5');
      expect(next.jobId).toBe(second);
      await complete(db.sql, next);
    }
  }, 60_000);

  test.each([
    [500, 8],
    [50, 50],
  ])(
    'case L5 %i rounds of two batches that name the same %i keys in opposite order do not deadlock',
    async (rounds, count) => {
      const queue = `l5 ${count}`;
      const keys = Array.from({ length: count }, (_, i) => `k${i}`);
      const batch = (names: string[]) =>
        enqueueBatch(db.sql, {
          jobs: names.map((orderingKey) => newJob({ queue, orderingKey, dedupKey: uuidv7() })),
          actor: 'test',
        });
      for (let round = 0; round < rounds; round += 1) {
        await Promise.all([batch(keys), batch(keys.toReversed())]);
      }
      const { rows } = await db.pool.query(
        `select count(*)::int as jobs, count(*) filter (where lane < 9)::int as open from leasehold.job_state where queue = $1`,
        [queue],
      );
      expect(rows).toEqual([{ jobs: 2 * rounds * count, open: count }]);
      const { rows: deadlocks } = await db.pool.query(
        'select deadlocks::int from pg_stat_database where datname = current_database()',
      );
      expect(deadlocks).toEqual([{ deadlocks: 0 }]);
    },
    60_000,
  );

  test('case L5 completing, settling, redriving and discarding jobs of shared keys together does not deadlock', async () => {
    await configureQueue(db.sql, {
      queue: 'mixed',
      settings: { on_dead: 'continue', backoff_base_ms: 0 },
      actor: 'test',
    });
    const work = async (owner: string): Promise<boolean> => {
      const taken = await claim(db.sql, { queue: 'mixed', owner, claimId: uuidv7() });
      if (taken.outcome === 'empty') return false;
      await complete(db.sql, { ...taken.job, owner });
      return true;
    };
    for (let round = 0; round < 15; round += 1) {
      const jobs = Array.from({ length: 30 }, (_, i) =>
        newJob({ queue: 'mixed', orderingKey: `k${i % 5}`, maxAttempts: 1 }),
      );
      await enqueueBatch(db.sql, { jobs, actor: 'test' });
      const leases = [];
      for (let i = 0; i < 5; i += 1) leases.push(await claimed(db.sql, 'mixed', `w${i}`));
      await db.pool.query(
        `update leasehold.job_state set due_at = clock_timestamp() where queue = 'mixed' and lane = 0 and owner in ('w3', 'w4')`,
      );
      const { rows } = await db.pool.query<{ job_id: string }>(
        `select job_id from leasehold.dead_letters where queue = 'mixed'`,
      );
      const dead = rows.map((row) => row.job_id);
      await Promise.all([
        ...leases.slice(0, 3).map((lease) => complete(db.sql, lease)),
        work('x'),
        work('y'),
        ...(dead.length > 0
          ? [
              redrive(db.sql, { jobIds: dead, reason: 'round', actor: 'test' }),
              discard(db.sql, { jobIds: dead.toReversed(), reason: 'round', actor: 'test' }),
            ]
          : []),
      ]);
      while (await work('z'));
    }
    const { rows: deadlocks } = await db.pool.query(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    expect(deadlocks).toEqual([{ deadlocks: 0 }]);
  }, 60_000);
});
