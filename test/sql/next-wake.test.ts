import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { dueQueues } from '../../shared/queue/due-queues.ts';
import { putSchedule } from '../../shared/queue/put-schedule.ts';
import { setSchedulePaused } from '../../shared/queue/set-schedule-paused.ts';
import { setQueuePaused } from '../../shared/queue/set-queue-paused.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, expireLease } from './support/lease-core.ts';
import { buffers, explained } from './support/explained.ts';

const SERVED = ['mine'];

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.pool.query(
    `truncate leasehold.job_state, leasehold.schedules, leasehold.queues, leasehold.rate_starts`,
  );
});

/** Seconds from now to the next wake, rounded; null: none. */
async function nextIn(served: readonly string[] = SERVED): Promise<number | null> {
  const { nextAt, now } = await dueQueues(db.sql, { limit: 10, perQueue: 10, served });
  return nextAt === null ? null : Math.round((nextAt.getTime() - now.getTime()) / 1000);
}

async function configure(queue: string, settings: Record<string, unknown>): Promise<void> {
  await configureQueue(db.sql, { queue, settings, actor: 'test' });
}

describe('B.1 leasehold.next_wake', () => {
  test('nothing waits: null; what is due already is not waited for', async () => {
    expect(await nextIn()).toBeNull();
    await added(db.sql, { queue: 'mine' });
    expect(await nextIn()).toBeNull();
  });

  test('the first of all lanes of all served queues', async () => {
    for (const [priority, delayMs] of [
      ['low', 30_000],
      ['urgent', 40_000],
      ['normal', 50_000],
    ] as const) {
      await added(db.sql, { queue: 'mine', priority, delayMs });
    }
    await added(db.sql, { queue: 'mine' });
    expect(await nextIn()).toBe(30);
    await added(db.sql, { queue: 'mine too', delayMs: 20_000 });
    expect(await nextIn()).toBe(30);
    expect(await nextIn(['mine', 'mine too'])).toBe(20);
  });

  test('a lease that runs out, in any queue', async () => {
    const id = await added(db.sql, { queue: 'elsewhere' });
    await claimed(db.sql, 'elsewhere');
    expect(await nextIn()).toBe(30);
    await expireLease(db.pool, id);
    expect(await nextIn()).toBeNull();
  });

  test('a job parked behind its key: the end of the one in front says nothing of it', async () => {
    await added(db.sql, { queue: 'mine', orderingKey: 'k' });
    await added(db.sql, { queue: 'mine', orderingKey: 'k', delayMs: 25_000 });
    expect(await nextIn()).toBe(25);
  });

  test('jobs that others pull or serve are not waited for, and those of a paused queue neither', async () => {
    await configure('mine', { delivery: 'pull' });
    await added(db.sql, { queue: 'mine', delayMs: 20_000 });
    await added(db.sql, { queue: 'elsewhere', delayMs: 20_000 });
    expect(await nextIn()).toBeNull();
    await configure('mine', { delivery: 'handler' });
    expect(await nextIn()).toBe(20);
    await setQueuePaused(db.sql, { queue: 'mine', paused: true, actor: 'test' });
    expect(await nextIn()).toBeNull();
  });

  test('pushed jobs are, whoever serves; those of a resting target when it may be tried again', async () => {
    await configure('hook', { delivery: 'push', target_url: 'https://example.com/hook' });
    await added(db.sql, { queue: 'hook', delayMs: 20_000 });
    await added(db.sql, { queue: 'hook' });
    expect(await nextIn()).toBe(20);
    await db.pool.query(
      "update leasehold.queues set push_resume_at = clock_timestamp() + interval '45 seconds'",
    );
    expect(await nextIn()).toBe(45);
  });

  test('due work whose queue has used up its starts: when it may start again', async () => {
    await configure('mine', { rate_limit: 2, rate_interval_ms: 60_000 });
    for (let job = 0; job < 3; job += 1) await added(db.sql, { queue: 'mine' });
    await claimed(db.sql, 'mine');
    await claimed(db.sql, 'mine');
    await db.pool.query('delete from leasehold.job_state where lane = 0');
    await db.pool.query("update leasehold.rate_starts set at = at - interval '20 seconds'");
    expect(await nextIn()).toBe(40);
    await db.pool.query("update leasehold.rate_starts set at = at - interval '50 seconds'");
    expect(await nextIn()).toBeNull();
  });

  test('the next slot of a schedule, unless it is paused', async () => {
    const name = 'nightly';
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const schedule = {
      name,
      cron: '0 3 * * *',
      zone: 'UTC',
      queue: 'mine',
      type: 't',
      payload: null,
      priority: 'normal',
      max_attempts: null,
      missed: 'latest',
      missed_limit: 1,
      overlap: 'allow',
    } as const;
    await putSchedule(db.sql, { schedule, nextSlotAt: at, actor: 'test' });
    expect(await nextIn()).toBe(3600);
    await added(db.sql, { queue: 'mine', delayMs: 60_000 });
    expect(await nextIn()).toBe(60);
    await db.pool.query('delete from leasehold.job_state');
    await setSchedulePaused(db.sql, { name, paused: true, nextSlotAt: null });
    expect(await nextIn()).toBeNull();
  });

  test('it steps from queue to queue, whatever their depth', async () => {
    await db.pool.query(
      `insert into leasehold.job_state (job_id, due_at, max_attempts, lane, home_lane, queue)
       select gen_random_uuid(), clock_timestamp() + i * interval '1 ms' - interval '10 seconds', 5, 3, 3,
         case i % 2 when 0 then 'mine' else 'elsewhere' end
       from generate_series(1, 40000) i`,
    );
    const client = await db.pool.connect();
    try {
      await client.query('analyze leasehold.job_state');
      const call = `select leasehold.next_wake('["mine"]')`;
      await client.query(call);
      const statements = await explained(client, call, []);
      const outer = statements.at(-1);
      expect(outer && buffers(outer.plan)).toBeLessThan(120);
    } finally {
      client.release();
    }
  });
});
