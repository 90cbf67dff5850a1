/**
 * Brings a database to the schema of this code: numbered migrations once each, then every routine again.
 *
 * One session-level advisory lock is held from start to end, so ten migrators may start together: one works, the others
 * wait and find nothing to do. It therefore needs a direct connection, not a transaction pooler.
 * A database that carries migrations this code does not know is left alone: old code must not put old routines over new ones.
 *
 * Usage: `npm run migrate` with `DATABASE_URL` set.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';

const MIGRATIONS_DIR = fileURLToPath(new URL('../migrations/', import.meta.url));
const ROUTINES_DIR = path.join(MIGRATIONS_DIR, 'routines');
const MIGRATION_FILE = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Shared by every migrator of this schema; an arbitrary constant. */
const MIGRATE_LOCK_ID = 5_147_301_922;
/** Weekly partitions made ahead: a deployment that migrates every quarter never falls back to the default ones. */
const PARTITION_WEEKS_AHEAD = 14;
/**
 * A routine that is replaced by one of another shape is not dropped at once but renamed, with this before its name: a call
 * that runs in it goes on. Once no such call can be left it is dropped.
 */
const RETIRED = 'retired_';
/** How long calls are waited for that began before the exchange; what they keep is dropped by the next run. */
const RETIRED_PATIENCE_MS = 5000;
const RETIRED_POLL_MS = 50;

export interface MigrateOptions {
  /** A `postgres://` URL of a direct (not transaction-pooled) connection whose role may create the schema `leasehold`. */
  readonly connectionString: string;
  /** Receives one line a step. */
  readonly log?: (line: string) => void;
}

export interface MigrateResult {
  /** Names of the migrations that this run applied, in order. */
  readonly applied: readonly string[];
  readonly routines: number;
}

/**
 * Migrates, or throws and leaves every finished step in place; run it again.
 *
 * @example await migrate({ connectionString: process.env.DATABASE_URL, log: console.log });
 */
export async function migrate(options: MigrateOptions): Promise<MigrateResult> {
  const log = options.log ?? (() => undefined);
  const client = new pg.Client({ connectionString: options.connectionString });
  // The connection may die while no query runs; the next query then says so.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('set client_min_messages = warning');
    await client.query('select pg_advisory_lock($1)', [MIGRATE_LOCK_ID]);
    await refuseUnknownMigrations(client);
    const applied = await applyNumbered(client, log);
    const routines = await applyRoutines(client);
    await dropRetired(client);
    log(`applied ${applied.length} migration(s) and ${routines} routines`);
    return { applied, routines };
  } finally {
    await client.end();
  }
}

async function refuseUnknownMigrations(client: pg.Client): Promise<void> {
  const { rows: tables } = await client.query<{ name: string | null }>(
    "select to_regclass('leasehold.migrations')::text as name",
  );
  if (tables[0]?.name == null) return;
  const known = new Set(await migrationNames());
  const { rows } = await client.query<{ name: string }>(
    'select name from leasehold.migrations order by id',
  );
  const unknown = rows.map((row) => row.name).filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new Error(
      `The database is newer than this code: it has ${unknown.join(', ')}. Deploy a release that contains it, then migrate.`,
    );
  }
}

async function applyNumbered(
  client: pg.Client,
  log: (line: string) => void,
): Promise<readonly string[]> {
  const quiet = (): void => undefined;
  const applied = await runner({
    dbClient: client,
    dir: MIGRATIONS_DIR,
    ignorePattern: 'routines',
    direction: 'up',
    migrationsTable: 'migrations',
    migrationsSchema: 'leasehold',
    createMigrationsSchema: true,
    singleTransaction: true,
    checkOrder: true,
    noLock: true,
    logger: { debug: quiet, info: quiet, warn: log, error: log },
  });
  for (const migration of applied) log(`applied ${migration.name}`);
  return applied.map((migration) => migration.name);
}

async function applyRoutines(client: pg.Client): Promise<number> {
  const files = (await readdir(ROUTINES_DIR)).filter((file) => file.endsWith('.sql')).sort();
  await client.query('begin');
  try {
    // Routines call each other; their bodies are checked when they run, so the order of files does not matter.
    await client.query('set local check_function_bodies = off');
    for (const drop of await retiredRoutines(client)) await client.query(drop);
    for (const file of files) {
      await client.query(await readFile(path.join(ROUTINES_DIR, file), 'utf8'));
    }
    await client.query('revoke all on all functions in schema leasehold from public');
    await client.query('select leasehold.apply_grants()');
    await client.query('select leasehold.ensure_partitions($1)', [PARTITION_WEEKS_AHEAD]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
  return files.length;
}

/** Statements that drop what an exchange has set aside. */
async function retiredRoutines(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('drop function %s', oid::regprocedure) as statement from pg_proc
     where pronamespace = 'leasehold'::regnamespace and starts_with(proname, $1::text)`,
    [RETIRED],
  );
  return rows.map(({ statement }) => statement);
}

/** Waits for the calls that were running when the routines were exchanged. Of sessions that it may not look into it expects the worst. */
async function dropRetired(client: pg.Client): Promise<void> {
  const drops = await retiredRoutines(client);
  if (drops.length === 0) return;
  const exchanged = await client.query<{ at: string }>('select clock_timestamp()::text as at');
  const until = performance.now() + RETIRED_PATIENCE_MS;
  for (;;) {
    const { rowCount } = await client.query(
      `select from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and coalesce(backend_type, 'client backend') = 'client backend'
         and (xact_start <= $1::timestamptz or state is null)
       limit 1`,
      [exchanged.rows[0]?.at],
    );
    if (rowCount === 0) break;
    if (performance.now() > until) return;
    await pause(RETIRED_POLL_MS);
  }
  await client.query(drops.join('; '));
}

async function migrationNames(): Promise<string[]> {
  const files = await readdir(MIGRATIONS_DIR);
  return files.filter((file) => MIGRATION_FILE.test(file)).map((file) => path.parse(file).name);
}

async function main(): Promise<void> {
  const connectionString = process.env['DATABASE_URL'];
  if (connectionString === undefined || !/^postgres(ql)?:\/\//.test(connectionString)) {
    console.error(
      'DATABASE_URL is not set to a postgres:// URL. Set it to a direct connection (on Neon: without "-pooler") and run again.',
    );
    process.exitCode = 2;
    return;
  }
  try {
    await migrate({ connectionString, log: (line) => console.log(line) });
  } catch (error) {
    console.error(`Migration failed: ${error instanceof Error ? error.message : 'unknown error'}`);
    process.exitCode = 1;
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main();
}
