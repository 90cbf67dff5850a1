import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uuidv7 } from 'uuidv7';
import { cancel } from '../../shared/queue/cancel.ts';
import { claim } from '../../shared/queue/claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, attemptsOf, claimed, expireLease } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const empty = async (queue: string): Promise<void> =>
  expect(await claim(db.sql, { queue, owner: 'w', claimId: uuidv7() })).toEqual({
    outcome: 'empty',
  });
const key = (queue: string, orderingKey: string): Promise<string> =>
  added(db.sql, { queue, orderingKey });

describe('an ordering key under other transactions', () => {
  test.each(['repeatable read', 'serializable'])(
    'E5 a producer at %s is refused, as it would park its job behind one that has ended',
    async (level) => {
      const queue = `level ${level}`;
      await key(queue, 'A');
      const client = await db.pool.connect();
      try {
        await client.query(`begin isolation level ${level}`);
        await client.query('select count(*) from leasehold.queues'); // takes the snapshot
        await complete(db.sql, await claimed(db.sql, queue));
        await expect(
          client.query(
            `select * from leasehold.enqueue(leasehold.new_job_id(), $1, 't', '1', p_ordering_key => 'A')`,
            [queue],
          ),
        ).rejects.toMatchObject({ code: 'LH001' });
      } finally {
        await client.query('rollback');
        client.release();
      }
      await key(queue, 'A');
      expect((await claimed(db.sql, queue)).orderingKey).toBe('A');
    },
  );

  test('a handler at repeatable read cannot end a job of a key and leave the next one parked', async () => {
    await key('level', 'A');
    const lease = await claimed(db.sql, 'level');
    const client = await db.pool.connect();
    try {
      await client.query('begin isolation level repeatable read');
      await client.query('select count(*) from leasehold.queues');
      await key('level', 'A');
      await expect(
        client.query('select * from leasehold.complete($1, $2, $3)', [
          lease.jobId,
          lease.owner,
          lease.fencingToken,
        ]),
      ).rejects.toMatchObject({ code: 'LH001' });
    } finally {
      await client.query('rollback');
      client.release();
    }
    await complete(db.sql, lease);
    expect((await claimed(db.sql, 'level')).orderingKey).toBe('A');
  });

  test('E5 calling the head off waits for a producer that has just parked a job behind it', async () => {
    const head = await key('called off', 'A');
    const producer = await db.pool.connect();
    try {
      await producer.query('begin');
      await producer.query(
        `select * from leasehold.enqueue(leasehold.new_job_id(), 'called off', 't', '1', p_ordering_key => 'A')`,
      );
      const calledOff = cancel(db.sql, { jobId: head, actor: 'maria' });
      await expect
        .poll(async () => {
          const { rowCount } = await db.pool.query(
            `select from pg_locks where not granted
             and database = (select oid from pg_database where datname = current_database())`,
          );
          return rowCount;
        })
        .toBe(1);
      await producer.query('commit');
      expect(await calledOff).toBe('cancelled');
    } finally {
      producer.release();
    }
    expect((await claimed(db.sql, 'called off')).orderingKey).toBe('A');
  });

  test.each(['settle', 'claim'])(
    'a key that a long transaction holds does not hold up other crashed jobs: %s',
    async (how) => {
      const queue = `busy ${how}`;
      await configureQueue(db.sql, { queue, settings: { max_attempts: 1 }, actor: 'test' });
      const held = await key(queue, 'A');
      const free = await added(db.sql, { queue });
      const { rows } = await db.pool.query(
        'select * from leasehold.claim($1, $2, gen_random_uuid(), 60, null, 10)',
        [queue, 'w'],
      );
      expect(rows).toHaveLength(2);
      await expireLease(db.pool, held);
      await expireLease(db.pool, free);
      const producer = await db.pool.connect();
      try {
        await producer.query('begin');
        await producer.query(
          `select * from leasehold.enqueue(leasehold.new_job_id(), $1, 't', '1', p_ordering_key => 'A')`,
          [queue],
        );
        if (how === 'settle') {
          await db.pool.query('select leasehold.settle($1, 20, $2)', [queue, 'drain']);
        } else {
          await empty(queue);
          await empty(queue);
        }
        expect(await getJob(db.sql, { jobId: free })).toMatchObject({ state: 'dead' });
        expect(await getJob(db.sql, { jobId: held })).toMatchObject({ state: 'pending' });
      } finally {
        await producer.query('rollback');
        producer.release();
      }
    },
  );
});

describe('leasehold.lock_keys', () => {
  const batch = (name: string, jobs: number): string[] => [
    JSON.stringify(
      Array.from({ length: jobs }, (_, i) => ({
        id: uuidv7(),
        queue: 'large',
        type: 't',
        payload: i,
        ordering_key: `${name}/${i}`,
      })),
    ),
    'test',
  ];
  const add = 'select count(*) from leasehold.enqueue_batch($1, $2)';

  test('case L5 batches of many keys go one at a time, so that the server has room for their locks', async () => {
    await configureQueue(db.sql, { queue: 'large', settings: {}, actor: 'test' });
    const [first, second] = [await db.pool.connect(), await db.pool.connect()];
    try {
      await first.query('begin');
      await first.query(add, batch('first', 51));
      const waits = second.query(add, batch('second', 51));
      const granted = async (): Promise<number[]> =>
        (
          await db.pool.query<{ held: number }>(
            `select (count(*) filter (where granted))::int as held from pg_locks
             where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
             group by pid order by 1`,
          )
        ).rows.map(({ held }) => held);
      await expect.poll(granted).toEqual([0, 52]);
      await db.pool.query(add, batch('few keys do not wait', 50));
      await first.query('rollback');
      await waits;
    } finally {
      first.release();
      second.release();
    }
  });
});

describe('the rate of an ordering key: leasehold.take_key_start', () => {
  const hour = { key_rate_limit: 1, key_rate_interval_ms: 3_600_000, backoff_base_ms: 0 };
  const waits = async (jobId: string): Promise<unknown> =>
    (
      await db.pool.query(
        `select extract(epoch from due_at - clock_timestamp()) > 3500 as waits from leasehold.job_state
         where job_id = $1 and lane between 1 and 4`,
        [jobId],
      )
    ).rows[0];

  test('S1.14 holds for jobs that were due long before anybody came', async () => {
    await configureQueue(db.sql, {
      queue: 'late',
      settings: { ...hour, key_concurrency: 3, max_attempts: 5 },
      actor: 'test',
    });
    for (let i = 0; i < 3; i += 1) await key('late', 'A');
    const free = await added(db.sql, { queue: 'late' });
    const { rows } = await db.pool.query<{ job_id: string }>(
      `select * from leasehold.claim('late', 'w', gen_random_uuid(), 60, null, 10)`,
    );
    expect(rows).toHaveLength(2);
    expect(rows.map(({ job_id: id }) => id)).toContain(free);
    await empty('late');
  });

  test('a crashed attempt ends once, though another claim is at the starts of its key', async () => {
    await configureQueue(db.sql, {
      queue: 'crashed',
      settings: { ...hour, key_rate_limit: 5 },
      actor: 'test',
    });
    const id = await key('crashed', 'A');
    await claimed(db.sql, 'crashed');
    await expireLease(db.pool, id);
    const other = await db.pool.connect();
    try {
      await other.query('begin');
      await other.query(
        `select pg_advisory_xact_lock(leasehold.key_lock_id('key_starts', 'crashed', 'A'))`,
      );
      await empty('crashed');
      await empty('crashed');
    } finally {
      await other.query('rollback');
      other.release();
    }
    expect(await claimed(db.sql, 'crashed')).toMatchObject({ jobId: id, attempt: 2 });
    expect(await attemptsOf(db.pool, id)).toHaveLength(1);
  });

  test.each(['fail', 'release', 'settle', 'claim', 'edit'])(
    'S1.14 holds for a job that starts again as well: %s',
    async (how) => {
      const queue = `again ${how}`;
      await configureQueue(db.sql, { queue, settings: hour, actor: 'test' });
      const id = await key(queue, 'A');
      const lease = await claimed(db.sql, queue);
      const held = [lease.jobId, lease.owner, lease.fencingToken];
      if (how === 'settle' || how === 'claim') await expireLease(db.pool, id);
      if (how === 'settle') {
        await db.pool.query('select leasehold.settle($1, 20, $2)', [queue, 'drain']);
      } else if (how === 'fail') {
        await db.pool.query(`select * from leasehold.fail($1, $2, $3, '{}')`, held);
      } else if (how !== 'claim') {
        await db.pool.query('select * from leasehold.release($1, $2, $3)', held);
      }
      if (how === 'edit') {
        await db.pool.query(`select leasehold.edit_job($1, now(), null, 'maria')`, [id]);
      }
      await empty(queue);
      expect(await waits(id)).toEqual({ waits: true });
    },
  );
});
