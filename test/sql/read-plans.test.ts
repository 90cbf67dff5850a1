/** What a page of jobs costs: each job by index, with a plan that is made once. */
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { nodes, runExplained, type PlanNode } from './support/explained.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const PAGE = 20;

test('leasehold.job_document reads the rows of a job by index, and is not planned anew for each', async () => {
  const client = await db.pool.connect();
  try {
    await client.query(
      `select leasehold.enqueue_batch((
         select jsonb_agg(jsonb_build_object('id', leasehold.new_job_id(), 'queue', 'q', 'type', 't', 'payload', 1))
         from generate_series(1, 100)
       ), 'test')`,
    );
    // A table that looks empty is where a plan goes wrong.
    await client.query(`analyze`);
    const { statements } = await runExplained(client, {
      text: `select leasehold.list_jobs('{}', ${PAGE}, null)`,
    });
    const documents = statements.filter(({ text }) => text.includes("'waiting_for'"));
    expect(documents).toHaveLength(PAGE);
    for (const { plan } of documents) {
      const all = nodes(plan);
      expect(all.filter((node) => /Seq Scan|Bitmap|Hash|Merge/.test(node['Node Type']))).toEqual(
        [],
      );
      // Partitions that cannot have the job are left out as it runs: the plan is not made for this one.
      expect(all.some(isPruned)).toBe(true);
    }
  } finally {
    client.release();
  }
});

function isPruned(node: PlanNode): boolean {
  return (node['Subplans Removed'] ?? 0) > 0;
}
