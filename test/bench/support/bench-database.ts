/** The Postgres that the benchmarks run on: embedded Postgres 18 as the project runs it, or the one of `DATABASE_URL`. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { postgresBinaries } from '../../../infra/local/postgres-files.ts';
import { postgresUser } from '../../../infra/local/postgres-user.ts';
import { startPostgres } from '../../../infra/local/postgres.ts';
import { makeBenchFolder } from './bench-folder.ts';

/**
 * Durable and with stock autovacuum, as a user would run it. More connections than the widest bench asks for, memory of a
 * small instance, and room for WAL, so that no forced checkpoint falls into one system's round.
 */
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '700',
  shared_buffers: '512MB',
  max_wal_size: '8GB',
};
const REPORTED = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'shared_buffers',
  'max_wal_size',
  'max_connections',
  'autovacuum',
  'autovacuum_naptime',
  'autovacuum_vacuum_scale_factor',
  'shared_preload_libraries',
];
const STATEMENTS = 'pg_stat_statements';

export interface BenchServer {
  readonly description: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Whether `pg_stat_statements` is loaded; each database then has the extension. */
  readonly countsStatements: boolean;
  /** Makes an empty database, one a system; an older one of that name is removed. */
  database(name: string): Promise<BenchDatabase>;
  stop(): Promise<void>;
}

export interface BenchDatabase {
  readonly name: string;
  /** Direct connection string. */
  readonly url: string;
  /** For filling, vacuum and looking; what is measured has connections of its own. */
  readonly pool: pg.Pool;
  connect(): Promise<pg.Client>;
  /** `vacuum (analyze)` of the whole database, as before every measured round of every system. */
  settle(): Promise<void>;
  drop(): Promise<void>;
}

/** @param given the value of `DATABASE_URL`; its role must be able to create databases. */
export async function openBenchServer(given: string | undefined): Promise<BenchServer> {
  if (given !== undefined) return reach(new URL(given), 'DATABASE_URL', () => Promise.resolve());
  const folder = await makeBenchFolder();
  const library = join(postgresBinaries(postgresUser()), 'lib', 'postgresql', `${STATEMENTS}.so`);
  const postgres = await startPostgres({
    dataDir: folder,
    settings: {
      ...SETTINGS,
      ...(existsSync(library)
        ? { shared_preload_libraries: STATEMENTS, [`${STATEMENTS}.track_planning`]: 'on' }
        : {}),
    },
  });
  const url = new URL(`postgres://${postgres.host}:${postgres.port}/postgres`);
  url.username = postgres.user;
  url.password = postgres.password;
  const stop = async (): Promise<void> => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
    rmSync(postgres.cluster, { recursive: true, force: true });
  };
  try {
    return await reach(url, 'embedded Postgres', stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function reach(admin: URL, kind: string, stop: () => Promise<void>): Promise<BenchServer> {
  const settings = await asAdmin(admin, async (client) => {
    const { rows } = await client.query<{ name: string; value: string }>(
      `select s.name, current_setting(s.name) as value from pg_catalog.pg_settings s where s.name = any ($1)`,
      [REPORTED],
    );
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  });
  const countsStatements = (settings['shared_preload_libraries'] ?? '').includes(STATEMENTS);
  return {
    description: `${kind}, ${settings['server_version'] ?? '?'}`,
    settings,
    countsStatements,
    database: (name) =>
      makeDatabase(admin, `bench_${name.replaceAll(/\W/g, '_')}`, countsStatements),
    stop,
  };
}

async function makeDatabase(
  admin: URL,
  name: string,
  countsStatements: boolean,
): Promise<BenchDatabase> {
  const drop = (): Promise<void> =>
    asAdmin(admin, async (client) => {
      await client.query(`drop database if exists ${name} with (force)`);
    });
  await drop();
  await asAdmin(admin, (client) => client.query(`create database ${name}`));
  const url = new URL(admin);
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 4 });
  pool.on('error', () => undefined); // an idle connection that the stopping server cut
  if (countsStatements) await pool.query(`create extension ${STATEMENTS}`);
  return {
    name,
    url: url.href,
    pool,
    connect: async () => {
      const client = new pg.Client({ connectionString: url.href });
      client.on('error', () => undefined); // its next query says so
      await client.connect();
      return client;
    },
    settle: async () => {
      await pool.query('vacuum (analyze)');
    },
    drop: async () => {
      await pool.end();
      await drop();
    },
  };
}

async function asAdmin<T>(admin: URL, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: admin.href });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
