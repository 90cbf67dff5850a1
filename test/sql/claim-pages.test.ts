/** Pages that a claim touches, for each shape of a queue. `npm run bench` shows what that is in time. */
import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { fillQueue } from './support/backlog.ts';
import { explained } from './support/explained.ts';
import { newJob } from './support/lease-core.ts';
import { withoutAutovacuum } from './support/old-snapshot.ts';
import { MAX_CLAIM_BUFFERS, pagesOf, planFaults } from './support/plan-rules.ts';
import { steadyPages } from './support/steady-pages.ts';

let db: TestDatabase;
let client: pg.PoolClient;
beforeAll(async () => {
  db = await createTestDatabase();
  await withoutAutovacuum(db.pool);
  client = await db.pool.connect();
  // Deep enough that the indexes have as many levels before as after what a test adds.
  await fillQueue(db.pool, 'deep', 100_000);
  await fillQueue(db.pool, 'shallow', 1_000);
}, 120_000);
afterAll(async () => {
  client.release();
  await db.drop();
});

/** Adds live rows only, without their jobs: nobody claims them here. */
const addRows = (columns: string, count: number): Promise<unknown> =>
  db.pool.query(
    `insert into leasehold.job_state (job_id, max_attempts, home_lane, queue, lane, due_at)
     select leasehold.new_job_id(), 5, 3, ${columns} from generate_series(1, ${count}) i`,
  );

const claimPages = (queue: string, limit = 1): Promise<number> =>
  steadyPages(db.pool, async () => {
    const call = 'select * from leasehold.claim($1, $2, $3, p_limit => $4)';
    const statements = await explained(client, call, [queue, 'w', uuidv7(), limit]);
    expect(planFaults(statements)).toEqual([]);
    return pagesOf(statements);
  });

const enqueuePages = (queue: string): Promise<number> =>
  steadyPages(db.pool, async () => {
    const call = `select * from leasehold.enqueue_batch($1, 'test')`;
    return pagesOf(await explained(client, call, [JSON.stringify([newJob({ queue })])]));
  });

describe('pages of a claim', () => {
  test('S3.5 at 100,000 due jobs they are those at 1,000', async () => {
    const [shallow, deep] = [await claimPages('shallow'), await claimPages('deep')];
    expect(deep).toBeLessThanOrEqual(shallow + 3);
    expect(deep).toBeLessThan(MAX_CLAIM_BUFFERS);
  });

  test('with due jobs in all five lanes they stay within the bound', async () => {
    await fillQueue(db.pool, 'lanes', 500);
    await db.pool.query(
      `update leasehold.job_state s
       set lane = n.lane, home_lane = greatest(n.lane, 1),
         owner = case when n.lane = 0 then 'gone' end,
         started_at = case when n.lane = 0 then now() - interval '1 hour' end,
         attempt = (n.lane = 0)::int, fencing_token = (n.lane = 0)::int
       from (select job_id, (row_number() over (order by due_at) % 5)::smallint as lane
         from leasehold.job_state where queue = 'lanes') n
       where s.job_id = n.job_id`,
    );
    expect(await claimPages('lanes')).toBeLessThan(MAX_CLAIM_BUFFERS + 20);
  });

  test('an empty claim reads no more with 100,000 delayed jobs than with none', async () => {
    await db.pool.query(`insert into leasehold.queues (name) values ('delayed'), ('none')`);
    await addRows(
      `'delayed', 1 + i % 4, now() + interval '1 hour' + i * interval '1 second'`,
      100_000,
    );
    const none = await claimPages('none');
    expect(await claimPages('delayed')).toBeLessThanOrEqual(none);
  });

  test('among 10,000 queues they are those of one', async () => {
    const before = await claimPages('shallow');
    const beforeEnqueue = await enqueuePages('shallow');
    await db.pool.query(
      `insert into leasehold.queues (name) select 'one of ' || i from generate_series(1, 10000) i`,
    );
    await addRows(`'one of ' || i % 10000, 3, now() - i * interval '1 millisecond'`, 30_000);
    await fillQueue(db.pool, 'one of 5000', 20);
    // Names find their row over one more level of an index.
    expect(await claimPages('shallow')).toBeLessThanOrEqual(before + 3);
    expect(await claimPages('one of 5000')).toBeLessThanOrEqual(before + 3);
    expect(await enqueuePages('shallow')).toBeLessThanOrEqual(beforeEnqueue + 5);
  });

  test('twenty jobs a claim touch fewer pages a job than one', async () => {
    const [one, twenty] = [await claimPages('deep'), await claimPages('deep', 20)];
    expect(twenty / 20).toBeLessThan(0.75 * one);
  });

  test('fifty heads that others hold at this instant cost a bounded number', async () => {
    const free = await claimPages('shallow');
    const holder = await db.pool.connect();
    try {
      await holder.query('begin');
      const { rowCount } = await holder.query(
        `select 1 from leasehold.job_state where queue = 'shallow' and lane = 3 order by due_at limit 50
         for no key update`,
      );
      expect(rowCount).toBe(50);
      expect(await claimPages('shallow')).toBeLessThanOrEqual(free + 3 * 50);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });
});
