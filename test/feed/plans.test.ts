/** What a look into the log costs: the same with a long history as with a short one. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { buffers, nodes, runExplained } from '../sql/support/explained.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
let client: pg.PoolClient;
beforeAll(async () => {
  db = await createTestDatabase();
  client = await db.pool.connect();
});
afterAll(async () => {
  client.release();
  await db.drop();
});

const JOBS = 40_000;
/** Rows that one look reads of each log, for a page of this size. */
const PAGE = 50;

async function addHistory(): Promise<void> {
  for (let round = 0; round < JOBS / 1000; round += 1) {
    await client.query(
      `select leasehold.enqueue_batch((
         select jsonb_agg(jsonb_build_object('id', leasehold.new_job_id(), 'queue', 'q', 'type', 't', 'payload', 1))
         from generate_series(1, 1000)
       ), 'test')`,
    );
  }
}

interface Look {
  readonly pages: number;
  readonly events: number;
  readonly faults: readonly string[];
}

/** A place ten events before the end of the log, once all of it is settled: a transaction of another test may be open. */
async function tenBack(): Promise<{ readonly cursor: string; readonly job: string }> {
  const newest = `select xact_id, id, job_id from leasehold.job_events order by id desc limit 1`;
  await expect
    .poll(
      async () => {
        const { rows } = await client.query<{ settled: boolean }>(
          `select n.xact_id < pg_snapshot_xmin(pg_current_snapshot()) as settled from (${newest}) n`,
        );
        return rows[0]?.settled;
      },
      { timeout: 60_000 },
    )
    .toBe(true);
  const { rows } = await client.query<{ cursor: string; job: string }>(
    `select format('%s_j%s', n.xact_id, n.id - 10) as cursor, n.job_id as job from (${newest}) n`,
  );
  return rows[0] ?? { cursor: '', job: '' };
}

/** One look from a place a few events back. */
async function look(text: string, values: readonly unknown[]): Promise<Look> {
  const { statements, rows } = await runExplained<{ page: { events: unknown[] } }>(client, {
    text,
    values: [...values],
  });
  const faults = statements.flatMap(({ plan, text: sql }) =>
    nodes(plan).flatMap((node) => {
      const where = `${node['Node Type']} in ${sql.replaceAll(/\s+/g, ' ').slice(0, 80)}`;
      if (/Seq Scan|Bitmap/.test(node['Node Type'])) return [where];
      const isLog = /^(job|queue)_events/.test(node['Relation Name'] ?? '');
      // The two pages are merged by sorting them; the log itself is read in order.
      const sorts = node['Node Type'] === 'Sort' && (node['Actual Rows'] ?? 0) > 2 * PAGE;
      if (sorts) return [where];
      const read = (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 1);
      const thrown = node['Rows Removed by Filter'] ?? 0;
      return isLog && read + thrown > PAGE ? [`${read} rows, ${thrown} thrown away, ${where}`] : [];
    }),
  );
  const outer = statements.at(-1);
  return {
    pages: outer === undefined ? Number.NaN : buffers(outer.plan),
    events: rows[0]?.page.events.length ?? Number.NaN,
    faults,
  };
}

test('S2.7 a look reads its page by index, whatever the history and the statistics', async () => {
  const looks = async (): Promise<Look[]> => {
    const { cursor, job } = await tenBack();
    return [
      await look('select leasehold.log_changes($1, null, $2) as page', [cursor, PAGE]),
      await look('select leasehold.job_events_since($1, $2, $3) as page', [cursor, '{}', PAGE]),
      await look('select leasehold.job_events_since(null, $1, $2) as page', ['{}', PAGE]),
      await look('select leasehold.job_history($1, null, $2) as page', [job, PAGE]),
      await look('select leasehold.job_events_before(null, $1, $2) as page', ['{}', PAGE]),
      await look('select leasehold.job_events_before($1, $2, $3) as page', [cursor, '{}', PAGE]),
    ];
  };
  await client.query(
    `select leasehold.enqueue(leasehold.new_job_id(), 'q', 't', '1') from generate_series(1, 60)`,
  );
  const few = await looks();
  await addHistory();
  const many = await looks();
  await client.query('analyze leasehold.job_events, leasehold.queue_events, leasehold.jobs');
  const analyzed = await looks();
  for (const later of [many, analyzed]) {
    for (const [at, { pages, faults }] of later.entries()) {
      expect({ at, faults }).toEqual({ at, faults: [] });
      // A page more a level of an index, for each row that is looked up.
      expect(pages).toBeLessThanOrEqual((few[at]?.pages ?? 0) * 2 + 4 * PAGE);
    }
  }
  expect(many.map(({ events }) => events)).toEqual([10, 10, PAGE, 1, PAGE, PAGE]);
}, 180_000);

test('S2.7 a look does not walk what came early an hour ago', async () => {
  const holder = await db.pool.connect();
  await holder.query('begin');
  await holder.query('select pg_current_xact_id()');
  try {
    const { rows } = await client.query<{ page: { cursor: string; seen: string } }>(
      'select leasehold.log_changes(null, null, 1) as page',
    );
    const cursor = rows[0]?.page.cursor ?? '';
    let seen = rows[0]?.page.seen ?? '';
    await addHistory();
    // Whatever came early is given, page by page.
    for (let isMore = true; isMore;) {
      const { rows: next } = await client.query<{ page: { seen: string; more: boolean } }>(
        'select leasehold.log_changes($1, $2, 200) as page',
        [cursor, seen],
      );
      seen = next[0]?.page.seen ?? seen;
      isMore = next[0]?.page.more ?? false;
    }
    await client.query(`select leasehold.enqueue(leasehold.new_job_id(), 'q', 't', '1')`);
    const one = await look('select leasehold.log_changes($1, $2, $3) as page', [
      cursor,
      seen,
      PAGE,
    ]);
    expect(one).toMatchObject({ events: 1, faults: [] });
    expect(one.pages).toBeLessThan(500);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
}, 120_000);
