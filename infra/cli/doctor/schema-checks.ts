import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { SCHEMA_VERSION } from '../../../shared/queue/schema-version.ts';
import { ROOT } from '../../local/state-folder.ts';
import type { DoctorDatabase } from './database.ts';
import { fail, ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';

const MIGRATE = 'Run npm run migrate.';
const LEAST_POSTGRES = 160_000;
/** The partitions of this many weeks should be there already. */
const LEAST_WEEKS_AHEAD = 2;
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const PARTITIONED = ['attempts', 'finished_jobs', 'job_events'] as const;
const MIGRATIONS = join(ROOT, 'migrations');

/** Whether the database holds what this code was written for. */
export async function checkSchema({ query }: DoctorDatabase): Promise<readonly Finding[]> {
  const [server] = await query<{
    number: number;
    name: string;
    user: string;
    there: boolean;
    open: boolean;
  }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as name,
       current_user::text as user, n.oid is not null and c.oid is not null as there,
       coalesce(has_schema_privilege(n.oid, 'usage'), false) as open
     from (values ('leasehold')) wanted (name)
     left join pg_namespace n on n.nspname = wanted.name
     left join pg_class c on c.relnamespace = n.oid and c.relname = 'schema_version'`,
  );
  if (server === undefined || !server.there) {
    return [fail('database.schema', 'there is no schema "leasehold" in this database', MIGRATE)];
  }
  if (!server.open) {
    return [
      fail(
        'database.schema',
        `${server.user} may not use the schema, so the functions could not run with this DATABASE_URL`,
        `grant leasehold_service to "${server.user}";`,
      ),
    ];
  }
  const [found] = await query<{ version: number; oldest_code: number }>(
    'select * from leasehold.schema_version()',
  );
  const { version = 0, oldest_code: oldest = 0 } = found ?? {};
  return [
    server.number < LEAST_POSTGRES
      ? warn(
          'database.version',
          `Postgres ${server.name}`,
          'Postgres 18 is what is tested; take a newer one.',
        )
      : ok('database.version', `Postgres ${server.name}`),
    versionFinding(version, oldest),
    await routineFinding(query),
    await indexFinding(query),
    await logFinding(query),
    await partitionFinding(query),
  ];
}

function versionFinding(version: number, oldest: number): Finding {
  const check = 'database.schema';
  if (oldest > SCHEMA_VERSION) {
    return fail(
      check,
      `schema ${version}; this code knows ${SCHEMA_VERSION}`,
      `Use code of schema ${oldest} or later.`,
    );
  }
  if (version < SCHEMA_VERSION) {
    return fail(check, `schema ${version}; this code needs ${SCHEMA_VERSION}`, MIGRATE);
  }
  return ok(check, `schema ${version}, as this code needs it`);
}

async function routineFinding(query: DoctorDatabase['query']): Promise<Finding> {
  const check = 'database.routines';
  const wanted = readdirSync(join(MIGRATIONS, 'routines')).map((file) =>
    file.replace(/\.sql$/, ''),
  );
  const rows = await query<{ name: string }>(
    `select distinct proname::text as name from pg_proc where pronamespace = 'leasehold'::regnamespace`,
  );
  const there = new Set(rows.map(({ name }) => name));
  const missing = wanted.filter((name) => !there.has(name));
  if (missing.length > 0) return fail(check, `missing: ${missing.join(', ')}`, MIGRATE);
  return ok(check, `all ${wanted.length} routines are there`);
}

/** An index can be missing after somebody's repair, or invalid after one that was built concurrently and broke off. */
async function indexFinding(query: DoctorDatabase['query']): Promise<Finding> {
  const check = 'database.indexes';
  const rows = await query<{ name: string; valid: boolean }>(
    `select c.relname::text as name, i.indisvalid and i.indisready as valid
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relnamespace = 'leasehold'::regnamespace`,
  );
  const there = new Set(rows.map(({ name }) => name));
  const missing = wantedIndexes().filter((name) => !there.has(name));
  const invalid = rows.filter(({ valid }) => !valid).map(({ name }) => name);
  if (missing.length > 0) {
    return fail(
      check,
      `missing: ${missing.join(', ')}`,
      'Make them again as migrations/ has them.',
    );
  }
  if (invalid.length > 0) {
    const again = invalid.map((name) => `reindex index concurrently leasehold.${name};`);
    return fail(check, `invalid: ${invalid.join(', ')}`, again.join(' '));
  }
  return ok(check, `all ${rows.length} indexes are valid`);
}

function wantedIndexes(): readonly string[] {
  const names = new Set<string>();
  for (const file of readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort()) {
    const text = readFileSync(join(MIGRATIONS, file), 'utf8');
    for (const [, made, dropped] of text.matchAll(
      /^\s*(?:create (?:unique )?index (\w+) on|drop index (?:if exists )?leasehold\.(\w+))/gm,
    )) {
      if (made !== undefined) names.add(made);
      if (dropped !== undefined) names.delete(dropped);
    }
  }
  return [...names];
}

/** The log is worth what its triggers are: every table and partition of it refuses update, delete and truncate. */
async function logFinding(query: DoctorDatabase['query']): Promise<Finding> {
  const check = 'database.event_log';
  const rows = await query<{ name: string }>(
    `select c.relname::text as name
     from pg_class c
     left join pg_trigger t on t.tgrelid = c.oid and t.tgenabled in ('O', 'A')
       and t.tgfoid = to_regprocedure('leasehold.refuse_change()')
     where c.relnamespace = 'leasehold'::regnamespace and c.relkind in ('r', 'p')
       and (c.relname in ('job_events', 'queue_events') or c.oid in (
         select inhrelid from pg_inherits where inhparent = 'leasehold.job_events'::regclass))
     group by c.relname
     -- Bits of tgtype: 8 delete, 16 update, 32 truncate.
     having coalesce(bit_or(t.tgtype), 0) & 56 <> 56
     order by 1`,
  );
  if (rows.length === 0) return ok(check, 'update, delete and truncate are refused');
  return fail(
    check,
    `open to changes: ${rows.map(({ name }) => name).join(', ')}`,
    'Somebody switched its triggers off: alter table leasehold.<name> enable trigger all.',
  );
}

async function partitionFinding(query: DoctorDatabase['query']): Promise<Finding> {
  const check = 'database.partitions';
  const [row] = await query<{ ahead: Date | null; now: Date }>(
    `select min(newest) as ahead, now() as now
     from unnest($1::text[]) parent
     left join lateral (
       select max(to_date(right(c.relname, 8), 'YYYYMMDD'))::timestamptz as newest
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = to_regclass('leasehold.' || parent) and c.relname ~ '_\\d{8}$'
     ) of_parent on true`,
    [[...PARTITIONED]],
  );
  const weeks = row?.ahead == null ? -1 : Math.floor((+row.ahead - +row.now) / WEEK_MS);
  if (weeks >= LEAST_WEEKS_AHEAD) return ok(check, `made for ${weeks} weeks ahead`);
  return warn(
    check,
    weeks < 0 ? 'none for the weeks to come' : `made for ${weeks} weeks ahead`,
    'The hourly retention makes them: see that scheduled passes run, or run npm run migrate.',
  );
}
