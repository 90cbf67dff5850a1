import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complete } from '../../shared/queue/complete.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { fail } from '../../shared/queue/fail.ts';
import { readMetrics, type Metrics, type QueueMetrics } from '../../shared/queue/metrics.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { fillQueue } from './support/backlog.ts';
import { explained, nodes } from './support/explained.ts';
import { added, claimed, makeDue } from './support/lease-core.ts';
import { pagesOf } from './support/plan-rules.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const read = async (): Promise<Metrics> => await readMetrics(db.sql);
const queueIn = ({ queues }: Metrics, name: string): QueueMetrics => {
  const found = queues.find((queue) => queue.name === name);
  if (found === undefined) throw new Error(`no queue ${name}`);
  return found;
};

async function failed(queue: string, code: string, times: number): Promise<void> {
  const jobId = await added(db.sql, { queue });
  for (let i = 0; i < times; i += 1) {
    if (i > 0) await makeDue(db.pool, jobId);
    const lease = await claimed(db.sql, queue);
    await fail(db.sql, { ...lease, error: { code, message: '' }, failureClass: 'transient' });
  }
}

describe('S1.19 leasehold.metrics', () => {
  test('tells instants and counts of each queue, and how long a claim looks', async () => {
    const queue = 'measured';
    await configureQueue(db.sql, { queue, settings: { concurrency_limit: 7 }, actor: 'test' });
    await added(db.sql, { queue });
    const lease = await claimed(db.sql, queue);
    await added(db.sql, { queue });
    const metrics = await read();
    expect(queueIn(metrics, queue)).toEqual({
      name: queue,
      paused: false,
      delivery: 'handler',
      resting: false,
      concurrency_limit: 7,
      first_due_at: expect.stringMatching(/Z$/) as string,
      first_lease_end_at: lease.leaseExpiresAt.toISOString(),
      oldest_dead_at: null,
      oldest_escalated_at: null,
      due: 1,
      delayed: 0,
      parked: 0,
      running: 1,
      close_to_expiry: 0,
      expired: 0,
      dead: 0,
      escalated: 0,
      peek_ms: expect.any(Number) as number,
    });
    expect(queueIn(metrics, queue).peek_ms).toBeGreaterThan(0);
    expect(metrics.read_ms).toBeGreaterThan(queueIn(metrics, queue).peek_ms);
    expect(metrics.counted_up_to).toBe(1_000);
  });

  test('leasehold.recent_transitions and leasehold.quantiles: latencies from due to claimed and to completed', async () => {
    const queue = 'latencies';
    for (let i = 0; i < 3; i += 1) {
      await added(db.sql, { queue });
      await complete(db.sql, await claimed(db.sql, queue));
    }
    // The claims waited 1 s, 2 s and 3 s; the runs took 100 ms, 200 ms and 300 ms, ten seconds after the job was added.
    await db.pool.query('alter table leasehold.job_events disable trigger user');
    await db.pool.query(
      `update leasehold.job_events e
       set details = e.details || jsonb_build_object('waited_ms', n.n * 1000)
       from (
         select e.id, row_number() over (order by e.id) as n
         from leasehold.job_events e join leasehold.jobs j on j.id = e.job_id
         where j.queue = $1 and e.type = 'claimed'
       ) n
       where e.id = n.id`,
      [queue],
    );
    await db.pool.query('alter table leasehold.job_events enable trigger user');
    await db.pool.query(
      `with numbered as (
         select a.job_id, a.ended_at, row_number() over (order by a.ended_at) as n
         from leasehold.attempts a join leasehold.jobs j on j.id = a.job_id
         where j.queue = $1
       ),
       moved as (
         update leasehold.jobs j set created_at = n.ended_at - interval '10 seconds'
         from numbered n where j.id = n.job_id
       )
       update leasehold.attempts a set started_at = n.ended_at - n.n * interval '100 milliseconds'
       from numbered n where a.job_id = n.job_id`,
      [queue],
    );
    expect((await read()).recent.queues[queue]).toEqual({
      transitions: { created: 3, claimed: 3, completed: 3 },
      claim_ms: { count: 3, p50: 2000, p95: 2900, p99: 2980 },
      run_ms: { count: 3, p50: 200, p95: 290, p99: 298 },
      total_ms: { count: 3, p50: 10_000, p95: 10_000, p99: 10_000 },
      retries: [],
    });
  });

  test('retries come by code and attempt, and the rarest together', async () => {
    await failed('retries', 'timeout', 2);
    await failed('retries', 'timeout', 1);
    await failed('retries', 'declined', 1);
    expect((await read()).recent.queues['retries']?.retries).toEqual([
      { code: 'timeout', attempt: 1, count: 2 },
      { code: 'declined', attempt: 1, count: 1 },
      { code: 'timeout', attempt: 2, count: 1 },
    ]);
    for (let i = 0; i < 22; i += 1) await failed('many codes', `code ${i}`, 1);
    const retries = (await read()).recent.queues['many codes']?.retries ?? [];
    expect(retries).toHaveLength(21);
    expect(retries.at(-1)).toEqual({ code: null, attempt: null, count: 2 });
  });

  test('an attempt that ends in death is no retry', async () => {
    const queue = 'at once';
    await added(db.sql, { queue });
    const lease = await claimed(db.sql, queue);
    const error = { code: 'gone', message: '' };
    await fail(db.sql, { ...lease, error, failureClass: 'permanent' });
    expect((await read()).recent.queues[queue]).toMatchObject({
      transitions: { failed: 1, dead: 1 },
      retries: [],
    });
  });

  test('reports that came after their lease are told by kind, for five minutes', async () => {
    await db.pool.query(
      `insert into leasehold.lost_reports (job_id, fencing_token, kind, queue, at)
       select leasehold.new_job_id(), 1, kind, 'lost', now() - age
       from (values
         ('complete', interval '1 second'), ('complete', '2 minutes'), ('heartbeat', '4 minutes'), ('fail', '6 minutes')
       ) r (kind, age)`,
    );
    expect((await read()).lost).toEqual([
      { queue: 'lost', kind: 'complete', count: 2 },
      { queue: 'lost', kind: 'heartbeat', count: 1 },
    ]);
  });

  test('lock waits and connections are of the server', async () => {
    const holder = await db.pool.connect();
    const waiter = await db.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select pg_advisory_xact_lock(77)');
      const pid = (await waiter.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0];
      const second = waiter.query('select pg_advisory_lock(77)');
      await lockWaitOf(pid?.pid ?? 0);
      const { database } = await read();
      expect(database.lock_waits).toBeGreaterThanOrEqual(1);
      expect(database.connections).toBeGreaterThanOrEqual(2);
      expect(database.max_connections).toBeGreaterThan(database.connections);
      await holder.query('rollback');
      await second;
    } finally {
      holder.release();
      waiter.release(true);
    }
  });

  test('reads indexes alone, and the same pages of a deep queue as of a shallow one', async () => {
    await fillQueue(db.pool, 'very deep', 20_000);
    const client = await db.pool.connect();
    try {
      const call = 'select leasehold.metrics()';
      await client.query(call);
      const statements = await explained(client, call, []);
      const read = statements
        .flatMap(({ plan }) => nodes(plan))
        .filter((node) =>
          /job_state|job_events|attempts|dead_letters|lost_reports|outbox_pending|^jobs$/.test(
            node['Relation Name'] ?? '',
          ),
        );
      expect(read.length).toBeGreaterThan(10);
      expect(read.filter((node) => !node['Node Type'].startsWith('Index'))).toEqual([]);
      // Far from the rows that there are: 1,001 of a kind are counted.
      expect(pagesOf(statements)).toBeLessThan(5_000);
    } finally {
      client.release();
    }
  });
});

/** Waits until the backend waits for a lock. */
async function lockWaitOf(pid: number): Promise<void> {
  for (;;) {
    const { rowCount } = await db.pool.query(
      'select 1 from pg_locks where pid = $1 and not granted',
      [pid],
    );
    if (rowCount === 1) return;
  }
}
