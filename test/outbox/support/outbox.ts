import type pg from 'pg';
import { uuidv7 } from 'uuidv7';

import type { RelayPassDeps, RelayReport } from '../../../functions/relay/relay-pass.ts';
import { relayPass } from '../../../functions/relay/relay-pass.ts';
import { appendEvent } from '../../../shared/outbox/append-event.ts';
import type { AppendedEvent, NewEvent } from '../../../shared/outbox/new-event.ts';
import type { Sql } from '../../../shared/ports.ts';
import type { Publisher } from '../../../shared/publish/publisher.ts';
import { webIds } from '../../../shared/web-ports.ts';
import { NODE_PORTS } from '../../support/pg-sql.ts';

export function newEvent(overrides: Partial<NewEvent> = {}): NewEvent {
  return {
    id: uuidv7(),
    aggregateType: 'order',
    aggregateId: '42',
    type: 'order.placed',
    payload: { total: 10 },
    ...overrides,
  };
}

export async function append(sql: Sql, overrides: Partial<NewEvent> = {}): Promise<AppendedEvent> {
  return await appendEvent(sql, { event: newEvent(overrides), actor: 'test' });
}

/** Appends events to each of some aggregates, turn by turn, and gives their ids by aggregate. */
export async function appendRounds(
  sql: Sql,
  aggregateIds: readonly string[],
  rounds: number,
): Promise<Map<string, string[]>> {
  const ids = new Map(aggregateIds.map((aggregateId) => [aggregateId, [] as string[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const aggregateId of aggregateIds) {
      const { eventId } = await append(sql, { aggregateId, payload: { round } });
      ids.get(aggregateId)?.push(eventId);
    }
  }
  return ids;
}

/** One pass of the relay with a minute before it. */
export async function relay(
  sql: Sql,
  publisher: Publisher,
  overrides: Partial<RelayPassDeps> & {
    readonly maxAttempts?: number;
    readonly signal?: AbortSignal;
    readonly invocationMs?: number;
  } = {},
): Promise<RelayReport> {
  const { maxAttempts = 10, signal, invocationMs = 60_000, ...ports } = overrides;
  const deps = { sql, publisher, ids: webIds, ...NODE_PORTS, ...ports };
  return await relayPass(deps, {
    invocationEndsAt: deps.clock.now() + invocationMs,
    maxAttempts,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Event ids as they are marked published, in the order of the marks and of their positions. */
export async function publishedIds(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ event_id: string }>(
    `select p.event_id from leasehold.outbox_published p join leasehold.outbox_events e on e.id = p.event_id
     where p.outcome = 'published' order by p.at, e.position`,
  );
  return rows.map((row) => row.event_id);
}

export async function pendingCount(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from leasehold.outbox_pending',
  );
  return rows[0]?.count ?? -1;
}

/** Makes every hold that waits for its time due now. */
export async function makeHoldsDue(pool: pg.Pool): Promise<void> {
  await pool.query(
    'update leasehold.outbox_holds set due_at = clock_timestamp() where due_at is not null',
  );
}

/** Lets the leases of all shards run out, without waiting for it. */
export async function expireShards(pool: pg.Pool): Promise<void> {
  await pool.query('update leasehold.outbox_shards set leased_until = clock_timestamp()');
}

/** Appends many events to one aggregate in one transaction. */
export async function appendMany(pool: pg.Pool, aggregateId: string, count: number): Promise<void> {
  await pool.query(
    `select leasehold.append_event(leasehold.new_job_id(), 'order', $1, 'order.changed', to_jsonb(i))
     from generate_series(1, $2::int) i`,
    [aggregateId, count],
  );
}

/** An outbox in which nothing ever happened. */
export async function clearOutbox(pool: pg.Pool): Promise<void> {
  await pool.query(
    `truncate leasehold.outbox_events, leasehold.outbox_pending, leasehold.outbox_holds, leasehold.outbox_published,
       leasehold.aggregates`,
  );
  await pool.query(
    `alter table leasehold.outbox_log disable trigger all;
     truncate leasehold.outbox_log;
     alter table leasehold.outbox_log enable trigger all;
     update leasehold.outbox_shards
     set leased_until = clock_timestamp(), batch_at = null, batch_ms = null, batch_events = null`,
  );
}
