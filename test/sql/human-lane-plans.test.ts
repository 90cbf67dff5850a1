import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { explained, nodes } from './support/explained.ts';
import { added } from './support/lease-core.ts';
import { pagesOf, planFaults } from './support/plan-rules.ts';

const ROWS = 20_000;

let db: TestDatabase;
let client: pg.PoolClient;
beforeAll(async () => {
  db = await createTestDatabase();
  const model = await added(db.sql, { queue: 'model' });
  // Half of them are dead, half wait for people, in forty queues.
  await db.pool.query(
    `with made as (
       insert into leasehold.jobs
         (id, queue, type, payload, home_lane, max_attempts, due_at, created_at, created_by)
       select leasehold.new_job_id(), 'people ' || (i % 40), j.type, j.payload, j.home_lane, j.max_attempts, j.due_at,
         j.created_at, j.created_by
       from leasehold.jobs j, generate_series(1, $2::int) i
       where j.id = $1
       returning id, queue
     )
     insert into leasehold.dead_letters (job_id, queue, state, reason, attempt, fencing_token, dead_at)
     select m.id, m.queue, case when n % 2 = 0 then 'dead' else 'escalated' end, 'failures_used_up', 3, 3,
       clock_timestamp() - make_interval(secs => n)
     from (select made.*, row_number() over () as n from made) m`,
    [model, ROWS],
  );
  client = await db.pool.connect();
});
afterAll(async () => {
  client.release();
  await db.drop();
});

test.each([
  ['a claim of any queue', `select * from leasehold.claim_escalated('maria', $1)`],
  ['a claim of one queue', `select * from leasehold.claim_escalated('maria', $1, 'people 7')`],
  ['a page of all', `select leasehold.list_escalations(null, 1, null), $1::uuid`],
  ['a page of one queue', `select leasehold.list_escalations('people 7', 1, null), $1::uuid`],
])('%s walks its index and no more, however many jobs wait', async (_, call) => {
  for (const statistics of ['none', 'fresh']) {
    if (statistics === 'fresh') await db.pool.query('analyze leasehold.dead_letters');
    const run = async () => await explained(client, call, [uuidv7()]);
    await run();
    await run();
    const statements = await run();
    expect(planFaults(statements)).toEqual([]);
    expect(pagesOf(statements)).toBeLessThan(100);
    const indexes = statements
      .flatMap(({ plan }) => nodes(plan))
      .flatMap((node) => (node['Relation Name'] === 'dead_letters' ? [node['Index Name']] : []));
    expect(indexes).toContainEqual(expect.stringMatching(/^dead_letters_escalated/));
  }
});
