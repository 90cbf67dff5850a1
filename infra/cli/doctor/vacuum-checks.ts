import { durationText } from '../time-text.ts';
import type { DoctorDatabase, Query } from './database.ts';
import { ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';

/** From where on there is something to say. */
export interface VacuumBounds {
  readonly deadRows: number;
  readonly snapshotSeconds: number;
}

const BOUNDS: VacuumBounds = { deadRows: 100_000, snapshotSeconds: 10 * 60 };
/** A database stops taking writes at about 2 billion. */
const OLD_TRANSACTION_IDS = 1_000_000_000;

/** Whether dead rows go away, and what keeps them. */
export async function checkVacuum(
  { query }: DoctorDatabase,
  bounds: VacuumBounds = BOUNDS,
): Promise<readonly Finding[]> {
  return [
    await deadRows(query, bounds),
    await autovacuum(query),
    await oldSnapshots(query, bounds),
    await oldIds(query),
  ];
}

async function deadRows(query: Query, { deadRows: many }: VacuumBounds): Promise<Finding> {
  const check = 'database.dead_rows';
  const rows = await query<{ name: string; dead: string; live: string; seconds: number | null }>(
    `select relname::text as name, n_dead_tup::text as dead, n_live_tup::text as live,
       extract(epoch from now() - greatest(last_vacuum, last_autovacuum))::int as seconds
     from pg_stat_user_tables where schemaname = 'leasehold' and n_dead_tup > $1
     order by n_dead_tup desc limit 5`,
    [many],
  );
  if (rows.length === 0) return ok(check, `no table has more than ${many} dead rows`);
  const texts = rows.map(({ name, dead, live, seconds }) => {
    const last =
      seconds === null ? 'never vacuumed' : `vacuumed ${durationText(seconds * 1000)} ago`;
    return `${name} has ${dead} dead rows beside ${live} live ones, ${last}`;
  });
  const all = rows.map(({ name }) => `vacuum leasehold.${name};`).join(' ');
  return warn(
    check,
    texts.join('; '),
    `See database.old_snapshots first: while one is open, vacuum can remove nothing. Then: ${all}`,
  );
}

async function autovacuum(query: Query): Promise<Finding> {
  const check = 'database.autovacuum';
  const [server] = await query<{ on: boolean }>(
    `select current_setting('autovacuum')::bool and current_setting('track_counts')::bool as on`,
  );
  if (server?.on !== true) {
    return warn(
      check,
      'autovacuum is off for the whole server',
      'alter system set autovacuum = on; select pg_reload_conf();',
    );
  }
  const off = await query<{ name: string }>(
    `select c.relname::text as name
     from pg_class c cross join lateral pg_options_to_table(c.reloptions) o
     where c.relnamespace = 'leasehold'::regnamespace and o.option_name = 'autovacuum_enabled' and not o.option_value::bool
     order by 1`,
  );
  if (off.length === 0) return ok(check, 'autovacuum is on');
  const again = off.map(({ name }) => `alter table leasehold.${name} reset (autovacuum_enabled);`);
  return warn(
    check,
    `autovacuum is off for ${off.map(({ name }) => name).join(', ')}`,
    again.join(' '),
  );
}

interface Holder {
  readonly kind: 'session' | 'prepared' | 'slot';
  readonly name: string;
  readonly who: string | null;
  readonly seconds: number | null;
}

/** What an open snapshot keeps, vacuum cannot remove. Claims stay flat beside it, but the tables grow. */
async function oldSnapshots(query: Query, { snapshotSeconds }: VacuumBounds): Promise<Finding> {
  const check = 'database.old_snapshots';
  const rows = await query<Holder & Record<string, unknown>>(
    `select 'session' as kind, pid::text as name, concat_ws(', ', usename, nullif(application_name, ''), state) as who,
       extract(epoch from clock_timestamp() - coalesce(xact_start, backend_start))::int as seconds
     from pg_stat_activity
     where pid <> pg_backend_pid() and datname = current_database()
       and (backend_xmin is not null or backend_xid is not null)
       and coalesce(xact_start, backend_start) < clock_timestamp() - make_interval(secs => $1)
     union all
     select 'prepared', gid, owner::text, extract(epoch from clock_timestamp() - prepared)::int
     from pg_prepared_xacts
     where database = current_database() and prepared < clock_timestamp() - make_interval(secs => $1)
     union all
     select 'slot', slot_name::text, slot_type, null
     from pg_replication_slots where not active and (xmin is not null or catalog_xmin is not null)
     order by 4 desc nulls last limit 10`,
    [snapshotSeconds],
  );
  if (rows.length === 0)
    return ok(check, `none is older than ${durationText(snapshotSeconds * 1000)}`);
  return warn(check, rows.map(holderText).join('; '), rows.map(holderRemedy).join(' '));
}

function holderText({ kind, name, who, seconds }: Holder): string {
  const age = seconds === null ? '' : `, open for ${durationText(seconds * 1000)}`;
  return `${{ session: 'session', prepared: 'prepared transaction', slot: 'unused replication slot' }[kind]} ${name} (${who ?? 'unknown'})${age}`;
}

function holderRemedy({ kind, name }: Holder): string {
  const quoted = `'${name.replaceAll("'", "''")}'`;
  return {
    session: `End it, if nobody needs it: select pg_terminate_backend(${name});`,
    prepared: `rollback prepared ${quoted};`,
    slot: `select pg_drop_replication_slot(${quoted});`,
  }[kind];
}

async function oldIds(query: Query): Promise<Finding> {
  const check = 'database.transaction_ids';
  const [row] = await query<{ age: number }>(
    `select age(datfrozenxid)::int as age from pg_database where datname = current_database()`,
  );
  const age = row?.age ?? 0;
  if (age < OLD_TRANSACTION_IDS)
    return ok(check, `${Math.round(age / 1_000_000)} million since the last freeze`);
  return warn(
    check,
    `${Math.round(age / 1_000_000)} million since the last freeze`,
    'See database.old_snapshots, then: vacuum (freeze);',
  );
}
