import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { fillQueue } from './support/backlog.ts';
import { buffers, explained, nodes, type ExplainedStatement } from './support/explained.ts';
import { newJob } from './support/lease-core.ts';
import {
  ageFloors,
  holdSnapshot,
  leaveDeadEntries,
  removeDeadEntries,
} from './support/old-snapshot.ts';
import { claimFaults, MAX_CLAIM_BUFFERS, pagesOf, planFaults } from './support/plan-rules.ts';
import { steadyPages } from './support/steady-pages.ts';

/** `npm run prove -- plans` does the same with 1,000, 100,000 and 1,000,000 rows. */
const ROWS = 50_000;

let db: TestDatabase;
let client: pg.PoolClient;
beforeAll(async () => {
  db = await createTestDatabase();
  // An analyze holds a snapshot while it runs, and dead entries that it still sees cost pages.
  await db.pool.query('alter table leasehold.job_state set (autovacuum_enabled = off)');
  await fillQueue(db.pool, 'deep', ROWS);
  await fillQueue(db.pool, 'other', 1_000);
  client = await db.pool.connect();
});
afterAll(async () => {
  client.release();
  await db.drop();
});

const claimPlans = async (queue: string): Promise<readonly ExplainedStatement[]> => {
  const call = 'select * from leasehold.claim($1, $2, $3)';
  // The first calls of a session, and the first one explained, read catalogs; plans are kept from then on.
  await client.query(call, [queue, 'warm-up', uuidv7()]);
  await explained(client, call, [queue, 'warm-up', uuidv7()]);
  return explained(client, call, [queue, 'worker', uuidv7()]);
};

describe('plans of the hot path', () => {
  test.each(['never analyzed', 'analyzed', 'stale'])(
    'S3.5 a claim from a deep queue is one ordered index scan a lane, statistics %s',
    async (statistics) => {
      if (statistics === 'analyzed') await db.pool.query('analyze leasehold.job_state');
      // Statistics that have never heard of this queue: the usual life of one that was empty a moment ago.
      if (statistics === 'stale') await fillQueue(db.pool, 'stale', ROWS);
      const queue = statistics === 'stale' ? 'stale' : 'deep';
      const statements = await claimPlans(queue);
      expect(claimFaults(statements)).toEqual([]);
      expect(statements.length).toBeGreaterThan(4);
      const scans = statements
        .flatMap((one) => nodes(one.plan))
        .filter((node) => node['Relation Name'] === 'job_state' && /Scan/.test(node['Node Type']));
      expect(new Set(scans.map((scan) => scan['Index Name']))).toEqual(
        new Set(['job_state_claim', 'job_state_claim_id', undefined]), // the row taken is found by its place
      );
    },
  );

  test(`an empty claim beside a deep backlog stays within ${MAX_CLAIM_BUFFERS} buffers`, async () => {
    const statements = await claimPlans('nothing here');
    expect(claimFaults(statements)).toEqual([]);
  });

  /** The lease of a fresh claim, as the first three parameters of a report. */
  const lease = async (): Promise<[jobId: string, owner: string, token: string]> => {
    const { rows } = await client.query<{ job_id: string; fencing_token: string }>(
      'select * from leasehold.claim($1, $2, $3)',
      ['deep', 'w', uuidv7()],
    );
    return rows[0] === undefined ? missing() : [rows[0].job_id, 'w', rows[0].fencing_token];
  };

  test.each([
    ['heartbeat', 40, 'select * from leasehold.heartbeat($1, $2, $3, 1)'],
    ['fail', 55, `select * from leasehold.fail($1, $2, $3, '{"code": "x", "message": "X."}')`],
    ['snooze', 50, 'select * from leasehold.snooze($1, $2, $3, 1000)'],
    ['release', 50, 'select * from leasehold.release($1, $2, $3)'],
    ['complete', 50, 'select * from leasehold.complete($1, $2, $3)'],
    [
      'complete_and_claim',
      90,
      `select * from leasehold.complete_and_claim($1, $2, $3, 'deep', gen_random_uuid())`,
    ],
  ])('%s finds its job by key and touches fewer than %i pages', async (_, bound, call) => {
    // The first call of a session reads catalogs of every partition; it is not what a busy backend pays. Bounds leave room
    // for pages of an index that are split just then.
    await client.query(call, await lease());
    await explained(client, call, await lease());
    const statements = await explained(client, call, await lease());
    expect(planFaults(statements)).toEqual([]);
    expect(pagesOf(statements)).toBeLessThan(bound);
  });

  test.each([1, 1_000])(
    'enqueue_batch of %i jobs, keys and all, reads no table through and touches fewer than 45 pages a job',
    async (count) => {
      const call = `select * from leasehold.enqueue_batch($1, 'test')`;
      const batch = (): string[] => [
        JSON.stringify(
          Array.from({ length: count }, (_, i) => ({
            ...newJob({ queue: 'deep' }),
            ...(i % 2 === 1 && { ordering_key: `key ${i}`, dedup_key: uuidv7() }),
          })),
        ),
      ];
      await client.query(call, batch());
      await explained(client, call, batch());
      const statements = await explained(client, call, batch());
      expect(planFaults(statements, { sortsItsInput: true })).toEqual([]);
      expect(pagesOf(statements)).toBeLessThan(count * 45);
    },
  );

  test('refresh_claim_floors reads the claim index alone, whatever it walks', async () => {
    const old = await holdSnapshot(db.pool);
    try {
      await leaveDeadEntries(db.pool, 'held', 500, 50);
      const call = `select leasehold.refresh_claim_floors('held', true)`;
      for (let i = 0; i < 3; i += 1) {
        await client.query(call);
        await ageFloors(db.pool, 'held');
      }
      const statements = await explained(client, call, []);
      expect(planFaults(statements)).toEqual([]);
      const read = statements
        .flatMap(({ plan }) => nodes(plan))
        .filter((node) => node['Relation Name'] === 'job_state');
      expect(read.map((node) => node['Index Name'])).toEqual(Array(5).fill('job_state_claim'));
    } finally {
      await old.release();
      await removeDeadEntries(db.pool);
    }
  });

  test('due_queues steps from queue to queue, whatever their depth', async () => {
    await client.query('select * from leasehold.due_queues(10, 10)');
    const statements = await explained(client, 'select * from leasehold.due_queues(10, 10)', []);
    const outer = statements.at(-1);
    // Two queues with live jobs, ten rows of each looked at: far from the 51,000 rows there are.
    expect(outer && buffers(outer.plan)).toBeLessThan(120);
  });

  test('S1.14 100,000 jobs of one blocked ordering key beside free jobs: a claim of a free one reads no more pages', async () => {
    const park = (queue: string): Promise<unknown> =>
      db.pool.query(
        `insert into leasehold.job_state (job_id, due_at, max_attempts, lane, home_lane, queue, ordering_key, key_seq)
         select leasehold.new_job_id(), clock_timestamp() - interval '1 hour', 5, 9, 3, $1, 'blocked', i
         from generate_series(1, 100000) i`,
        [queue],
      );
    const pages = (): Promise<number> =>
      steadyPages(db.pool, async () => {
        const call = 'select * from leasehold.claim($1, $2, $3)';
        const statements = await explained(client, call, ['keys', 'worker', uuidv7()]);
        expect(planFaults(statements)).toEqual([]);
        return pagesOf(statements);
      });
    await fillQueue(db.pool, 'keys', 50_000);
    // Somebody else's jobs first, so that the index has as many levels before as after.
    await park('elsewhere');
    const before = await pages();
    await park('keys');
    const after = await pages();
    // Where the new version of the row finds room makes one page more or less.
    expect(after).toBeLessThanOrEqual(before + 1);
    expect(after).toBeLessThanOrEqual(MAX_CLAIM_BUFFERS);
  }, 60_000);

  test('the rules see a fault: a claim by OR over two columns sorts', async () => {
    const statements = await explained(
      client,
      `select job_id from leasehold.job_state
       where queue = $1 and (lane = 3 or (lane = 0 and due_at < now()))
       order by home_lane, due_at limit 1 for update skip locked`,
      ['deep'],
    );
    expect(claimFaults(statements).join()).toMatch(/Sort/);
  });
});

function missing(): never {
  throw new Error('no statement ran');
}
