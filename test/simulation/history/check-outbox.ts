import type pg from 'pg';
import type { ReportBuilder } from './report.ts';
import { streamRows } from './rows.ts';

interface AppendedRow {
  readonly id: string;
  readonly aggregate: string;
  readonly version: number;
  readonly newest: number | null;
  readonly position: number;
  readonly pending: number;
  readonly done_at: number | null;
}

const APPENDED = `
  select e.id, e.aggregate_type || ' ' || e.aggregate_id as aggregate, e.version::float8 as version,
    a.version::float8 as newest, e.position::float8 as position,
    (select count(*)::int from leasehold.outbox_pending p
     where p.shard = leasehold.outbox_shard(e.aggregate_type, e.aggregate_id) and p.lane in (1, 9) and p.position = e.position
    ) as pending,
    (extract(epoch from u.at) * 1000)::float8 as done_at
  from leasehold.outbox_events e
  left join leasehold.outbox_published u on u.event_id = e.id
  left join leasehold.aggregates a using (aggregate_type, aggregate_id)
  order by e.aggregate_type, e.aggregate_id, e.version`;

/** Versions without a gap, each pending or done, and done in their order. */
export async function checkOutbox(client: pg.ClientBase, report: ReportBuilder): Promise<void> {
  let before: AppendedRow | undefined;
  const fault = (row: AppendedRow, text: string): void =>
    report.fault('aggregate_order', null, `${row.aggregate}, version ${row.version}: ${text}`);
  const checkLast = (row: AppendedRow | undefined): void => {
    if (row !== undefined && row.newest !== row.version)
      fault(row, `the newest, the aggregate is at ${row.newest}`);
  };
  for await (const row of streamRows<AppendedRow>(client, APPENDED)) {
    report.counts.appended += 1;
    if (row.done_at !== null) report.counts.published += 1;
    const places = row.pending + (row.done_at === null ? 0 : 1);
    if (places !== 1)
      fault(row, places === 0 ? 'neither pending nor published' : 'pending and published');
    if (before?.aggregate !== row.aggregate) {
      checkLast(before);
    } else {
      if (row.version !== before.version + 1) fault(row, `follows version ${before.version}`);
      if (row.position <= before.position) fault(row, 'placed before the version before it');
      if (row.done_at !== null && (before.done_at === null || before.done_at > row.done_at)) {
        fault(row, 'published before the version before it');
      }
    }
    before = row;
  }
  checkLast(before);
  await checkShards(client, report);
}

/** Whoever marks an event as published holds the lock of its shard: so the marks of a shard are in the order of its tokens. */
async function checkShards(client: pg.ClientBase, report: ReportBuilder): Promise<void> {
  const marks = `
    select shard, token, token_before from (
      select s.shard, u.fencing_token::float8 as token,
        max(u.fencing_token) over (partition by s.shard order by u.at, u.fencing_token
          rows between unbounded preceding and 1 preceding)::float8 as token_before
      from leasehold.outbox_published u
      join leasehold.outbox_events e on e.id = u.event_id
      cross join lateral (select leasehold.outbox_shard(e.aggregate_type, e.aggregate_id)) s (shard)
      where u.fencing_token is not null
    ) m where token < token_before`;
  type Mark = { shard: number; token: number; token_before: number };
  for await (const { shard, token, token_before } of streamRows<Mark>(client, marks)) {
    const text = `shard ${shard}: marked under token ${token} after ${token_before}`;
    report.fault('shard_leases', null, text);
  }
}

/** One row an effect that a consumer applied. */
interface AppliedRow {
  readonly consumer: string;
  readonly sender: string;
  readonly event_id: string;
  readonly aggregate: string;
  readonly version: number | null;
  readonly recorded: boolean;
}

/**
 * Effects of consumers: each event once, on record in the inbox, and the versions of an aggregate in their order.
 *
 * @param applied a query that gives `consumer, sender, event_id, aggregate, version, applied_order` of each effect; consumers
 *   whose policy is any have null for a version
 */
export async function checkApplied(
  client: pg.ClientBase,
  report: ReportBuilder,
  applied: string,
): Promise<void> {
  const query = `
    select a.consumer, a.sender, a.event_id, a.aggregate, a.version::float8 as version, i.event_id is not null as recorded
    from (${applied}) a
    left join leasehold.inbox_events i
      on i.consumer = a.consumer and i.sender = a.sender and i.event_id = a.event_id::text
    order by a.consumer, a.sender, a.aggregate, a.applied_order`;
  let before: AppliedRow | undefined;
  let ids = new Set<string>();
  for await (const row of streamRows<AppliedRow>(client, query)) {
    const where = `${row.consumer}, ${row.aggregate}, event ${row.event_id}`;
    const same =
      before?.consumer === row.consumer &&
      before.sender === row.sender &&
      before.aggregate === row.aggregate;
    if (!same) ids = new Set();
    if (ids.has(row.event_id)) report.fault('effects_once', null, `${where}: applied again`);
    ids.add(row.event_id);
    if (!row.recorded) report.fault('effects_once', null, `${where}: applied and not on record`);
    if (
      before !== undefined &&
      same &&
      row.version !== null &&
      row.version < (before.version ?? 0)
    ) {
      const text = `${where}: version ${row.version} applied after ${before.version}`;
      report.fault('aggregate_order', null, text);
    }
    before = row;
  }
}

export async function countConsumed(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::int as count from leasehold.inbox_events',
  );
  return rows[0]?.count ?? 0;
}
