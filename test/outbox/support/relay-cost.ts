import type pg from 'pg';
import { uuidv7 } from 'uuidv7';

import { buffers, explained, nodes, type ExplainedStatement } from '../../sql/support/explained.ts';

/** What one batch of the relay cost. */
export interface BatchCost {
  /** Pages that the claim and the settlement touched, with all statements inside them. */
  readonly claimPages: number;
  readonly settlePages: number;
  readonly events: number;
  /** What their plans should not have done; empty when all is well. */
  readonly faults: readonly string[];
}

/** Tables that grow with history: nothing of a batch may walk them. */
const HISTORY = new Set(['outbox_events', 'outbox_published', 'outbox_log', 'aggregates']);

/** Adds events that were published long ago by plain inserts: the same rows as publishing them, only quicker. */
export async function fillPublished(pool: pg.Pool, count: number): Promise<void> {
  const AT_ONCE = 500_000;
  for (let done = 0; done < count; done += AT_ONCE) {
    await pool.query(
      `with made as materialized (
         select gen_random_uuid() as random, nextval('leasehold.outbox_position') as position, i
         from generate_series(1, $1::int) i
       ),
       events as (
         insert into leasehold.outbox_events
           (id, position, aggregate_type, aggregate_id, version, type, schema_version, payload, headers, occurred_at,
             created_at, created_by)
         select (lpad(to_hex(1600000000000 + m.position), 12, '0') || right(replace(m.random::text, '-', ''), 20))::uuid,
           m.position, 'old', (m.position / 100)::text, m.position, 'order.placed', 1, '{"total": 10}', '{}',
           now() - interval '20 days', now() - interval '20 days', 'fill'
         from made m
         returning id
       )
       insert into leasehold.outbox_published (event_id, outcome, at, attempts, by)
       select e.id, 'published', now() - interval '20 days', 1, 'fill' from events e`,
      [Math.min(AT_ONCE, count - done)],
    );
  }
}

export interface BatchShape {
  readonly events: number;
  readonly aggregates: number;
}

/**
 * The cheapest of three batches, each of events that fall into one shard: the first of a session, and the first after
 * statistics have changed, read catalogs as well.
 */
export async function batchCost(client: pg.PoolClient, shape: BatchShape): Promise<BatchCost> {
  const costs = [];
  for (let run = 0; run < 3; run += 1) costs.push(await oneBatch(client, shape));
  return {
    claimPages: Math.min(...costs.map(({ claimPages }) => claimPages)),
    settlePages: Math.min(...costs.map(({ settlePages }) => settlePages)),
    events: Math.max(...costs.map(({ events }) => events)),
    faults: costs.flatMap(({ faults }) => faults),
  };
}

/** Appends, claims and settles one batch. */
async function oneBatch(
  client: pg.PoolClient,
  { events, aggregates }: BatchShape,
): Promise<BatchCost> {
  const run = uuidv7();
  await client.query(
    `select leasehold.append_event(leasehold.new_job_id(), 'cost', a.id, 'order.placed', to_jsonb(i))
     from (
       select id, row_number() over () as n
       from (select $1 || i as id from generate_series(1, $3::int * 40) i) one
       where leasehold.outbox_shard('cost', id) = 3
       limit $3
     ) a
     cross join generate_series(1, $2::int / $3::int) i`,
    [run, events, aggregates],
  );
  const claimId = uuidv7();
  const claim = await explained(client, 'select * from leasehold.claim_events($1, $2, 30, 500)', [
    'cost',
    claimId,
  ]);
  const { rows } = await client.query<{ shard: number; fencing_token: string; event_id: string }>(
    'select shard, fencing_token, event_id from leasehold.claim_events($1, $2, 30, 500)',
    ['cost', claimId],
  );
  const results = rows.map((row) => ({ id: row.event_id, outcome: 'published' }));
  const settle = await explained(
    client,
    'select * from leasehold.settle_events($1::smallint, $2, $3, $4)',
    [rows[0]?.shard, 'cost', rows[0]?.fencing_token, JSON.stringify(results)],
  );
  return {
    claimPages: pagesOf(claim),
    settlePages: pagesOf(settle),
    events: rows.length,
    faults: [...faults(claim), ...faults(settle)],
  };
}

function pagesOf(statements: readonly ExplainedStatement[]): number {
  const outer = statements.at(-1);
  if (outer === undefined) throw new Error('no statement ran');
  return buffers(outer.plan);
}

/** No walk over history, no bitmap, and no row of the pending table read and thrown away. */
function faults(statements: readonly ExplainedStatement[]): string[] {
  return statements.flatMap(({ plan, text }) =>
    nodes(plan).flatMap((node) => {
      const relation = node['Relation Name'] ?? '';
      const where = `${node['Node Type']} of ${relation} in: ${text.replaceAll(/\s+/g, ' ').slice(0, 100)}`;
      if (/Bitmap/.test(node['Node Type'])) return [where];
      if (HISTORY.has(relation) && node['Node Type'] === 'Seq Scan') return [where];
      if (relation === 'outbox_pending' && (node['Rows Removed by Filter'] ?? 0) > 0) {
        return [`rows removed by filter: ${where}`];
      }
      return [];
    }),
  );
}
