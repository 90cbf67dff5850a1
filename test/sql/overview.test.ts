import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complete } from '../../shared/queue/complete.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { fail } from '../../shared/queue/fail.ts';
import { readOverview, type QueueOverview } from '../../shared/queue/overview.ts';
import { setQueuePaused } from '../../shared/queue/set-queue-paused.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { fillQueue } from './support/backlog.ts';
import { explained, nodes } from './support/explained.ts';
import { added, claimed, expireLease } from './support/lease-core.ts';
import { pagesOf } from './support/plan-rules.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const ERROR = { code: 'declined', message: 'no' };
const LATER = new Date(Date.now() + 30 * 86_400_000).toISOString();
const NONE = { count: 0, capped: false };
const some = (count: number): object => ({ count, capped: false });

async function overviewOf(queue: string): Promise<QueueOverview> {
  const { queues } = await readOverview(db.sql, { queues: [queue] });
  return queues[0] ?? Promise.reject(new Error(`no queue ${queue}`));
}

async function dead(queue: string): Promise<string> {
  const jobId = await added(db.sql, { queue });
  const lease = await claimed(db.sql, queue);
  await fail(db.sql, { ...lease, error: ERROR, failureClass: 'permanent' });
  return jobId;
}

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);

describe('S1.19 leasehold.overview', () => {
  test('counts the jobs of each kind and tells since when the first ones wait', async () => {
    const queue = 'kinds';
    await configureQueue(db.sql, { queue, settings: { lease_seconds: 60 }, actor: 'test' });
    const firstDead = await dead(queue);
    await dead(queue);
    await db.pool.query(
      `insert into leasehold.dead_letters (job_id, queue, reason, attempt, fencing_token, dead_at, state)
       select leasehold.new_job_id(), $1, 'asked_for_human', 1, 1, '2030-01-01', 'escalated'`,
      [queue],
    );
    await added(db.sql, { queue });
    await claimed(db.sql, queue);
    await added(db.sql, { queue });
    const late = await claimed(db.sql, queue);
    await db.pool.query(
      `update leasehold.job_state set due_at = clock_timestamp() + interval '19 seconds' where job_id = $1`,
      [late.jobId],
    );
    const gone = await added(db.sql, { queue });
    await claimed(db.sql, queue);
    await expireLease(db.pool, gone);
    await added(db.sql, { queue, dueAt: LATER });
    await added(db.sql, { queue, orderingKey: 'k' });
    await added(db.sql, { queue, orderingKey: 'k' });
    const [due] = (
      await db.pool.query<{ at: Date }>(
        `select due_at as at from leasehold.job_state
         where queue = $1 and lane between 1 and 4 order by due_at limit 1`,
        [queue],
      )
    ).rows;
    const [settled] = (
      await db.pool.query<{ at: Date }>(
        'select dead_at as at from leasehold.dead_letters where job_id = $1',
        [firstDead],
      )
    ).rows;

    expect(await overviewOf(queue)).toEqual({
      name: queue,
      paused: null,
      delivery: 'handler',
      resting_until: null,
      concurrency_limit: null,
      due: some(1),
      delayed: some(1),
      parked: some(1),
      running: some(2),
      leases_close_to_expiry: some(1),
      expired: some(1),
      dead: some(2),
      escalated: some(1),
      oldest_due_at: due?.at.toISOString(),
      next_due_at: null,
      oldest_expired_at: expect.stringMatching(/Z$/) as string,
      oldest_dead_at: settled?.at.toISOString(),
      oldest_escalated_at: '2030-01-01T00:00:00.000Z',
      series: expect.anything() as object,
    });
  });

  test('a queue with nothing but delayed work tells when it is due', async () => {
    await added(db.sql, { queue: 'later', dueAt: LATER });
    await setQueuePaused(db.sql, { queue: 'later', paused: true, actor: 'ada', reason: 'why not' });
    expect(await overviewOf('later')).toMatchObject({
      paused: { since: expect.stringMatching(/Z$/) as string, by: 'ada', reason: 'why not' },
      due: NONE,
      oldest_due_at: null,
      next_due_at: LATER,
      oldest_expired_at: null,
    });
  });

  test('the series counts attempts where they ended', async () => {
    const queue = 'series';
    for (let i = 0; i < 3; i += 1) {
      await added(db.sql, { queue });
      await complete(db.sql, await claimed(db.sql, queue));
    }
    await dead(queue);
    const hourAgo = await db.pool.query<{ at: Date }>('select now() as at');
    const { series } = await overviewOf(queue);
    expect(series.step_seconds).toBe(60);
    expect(series.succeeded).toHaveLength(60);
    expect(series.succeeded.at(-1)).toBe(3);
    expect(sum(series.succeeded)).toBe(3);
    expect(series.failed).toHaveLength(60);
    expect(sum(series.failed)).toBe(1);
    const from = Date.parse(series.from);
    expect(from).toBeGreaterThanOrEqual(hourAgo.rows[0]!.at.getTime() - 3_600_000);
  });

  test('counts stop at 1,000, and say so', async () => {
    await fillQueue(db.pool, 'deep', 1_000);
    expect((await overviewOf('deep')).due).toEqual({ count: 1_000, capped: false });
    await fillQueue(db.pool, 'deep', 1);
    expect((await overviewOf('deep')).due).toEqual({ count: 1_000, capped: true });
  });

  test('the queue that waits longest comes first, and those left out are counted', async () => {
    await added(db.sql, { queue: 'a quiet one', dueAt: LATER });
    await added(db.sql, { queue: 'b waits' });
    await added(db.sql, { queue: 'c waits longer' });
    await db.pool.query(
      `update leasehold.job_state set due_at = due_at - interval '1 minute' where queue = 'c waits longer'`,
    );
    const queues = ['a quiet one', 'b waits', 'c waits longer', 'no such queue'];
    const all = await readOverview(db.sql, { queues });
    expect(all.queues.map(({ name }) => name)).toEqual([
      'c waits longer',
      'b waits',
      'a quiet one',
    ]);
    expect(all.left_out).toBe(0);
    const some = await readOverview(db.sql, { queues, limit: 1 });
    expect(some.queues.map(({ name }) => name)).toEqual(['c waits longer']);
    expect(some.left_out).toBe(2);
    await expect(readOverview(db.sql, { limit: 201 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  test('leasehold.queue_heads, leasehold.queue_counts, leasehold.newest_events and leasehold.capped read indexes alone', async () => {
    await fillQueue(db.pool, 'very deep', 20_000);
    const client = await db.pool.connect();
    try {
      const call = `select leasehold.overview('["very deep"]')`;
      await client.query(call);
      const statements = await explained(client, call, []);
      const read = statements
        .flatMap(({ plan }) => nodes(plan))
        .filter((node) =>
          /job_state|job_events|dead_letters|^jobs$/.test(node['Relation Name'] ?? ''),
        );
      expect(read.length).toBeGreaterThan(10);
      expect(read.filter((node) => !node['Node Type'].startsWith('Index'))).toEqual([]);
      // Far from the rows that there are: 1,001 are counted.
      expect(pagesOf(statements)).toBeLessThan(2_500);
    } finally {
      client.release();
    }
  });
});
