/** The database of a local run: the built-in Postgres behind our `/sql` endpoint, or the one that `DATABASE_URL` names. */
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { parseConnectionString } from '../../shared/database/connection-string.ts';
import { startPostgres, type Postgres } from './postgres.ts';
import { startSqlEndpoint, type SqlEndpoint } from './sql-endpoint/endpoint.ts';
import type { StateFolder } from './state-folder.ts';

const DATABASE = 'leasehold';
const NEON_DOMAIN = '.neon.tech';
const DEFAULT_PORT = 5432;
/** Values of `sslmode` under which a connection without TLS is right. */
const NO_TLS = new Set(['disable', 'allow', 'prefer']);

export interface LocalDatabase {
  /** For the Worker: spoken to over HTTP. */
  readonly workerUrl: string;
  /** For migrations: a direct connection over TCP. */
  readonly directUrl: string;
  /** What to tell a person; no password in it. */
  readonly description: string;
  readonly sqlEndpointUrl: string | undefined;
  /** Where the data lies, when it is ours. */
  readonly dataFolder: string | undefined;
  /** Resolves when the database ends by itself; never for one that is not ours. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param given the value of `DATABASE_URL`, if set
 * @throws with a text that never holds the connection string.
 */
export async function openLocalDatabase(
  state: StateFolder,
  given: string | undefined,
): Promise<LocalDatabase> {
  return given === undefined ? builtIn(state) : named(parse(given));
}

async function builtIn(state: StateFolder): Promise<LocalDatabase> {
  rmSync(state.postgresLog, { force: true });
  const postgres = await startPostgres({
    dataDir: state.postgres,
    log: (line) => appendFileSync(state.postgresLog, `${line}\n`),
  });
  try {
    const direct = new URL(`postgres://${postgres.host}:${postgres.port}/${DATABASE}`);
    direct.username = postgres.user;
    direct.password = postgres.password;
    await createDatabase(postgres);
    writeFileSync(state.databaseService, serviceFile(postgres), { mode: 0o600 });
    const endpoint = await startSqlEndpoint({ upstream: postgres });
    return {
      ...throughEndpoint(direct, endpoint),
      description: `Postgres 18 on port ${postgres.port}; PGSERVICEFILE='${state.databaseService}' psql service=${DATABASE}`,
      dataFolder: postgres.cluster,
      ended: postgres.ended,
      stop: async () => {
        await endpoint.close();
        await postgres.stop();
      },
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** The format of libpq's connection service file. */
function serviceFile({ host, port, user, password }: Postgres): string {
  return `[${DATABASE}]\nhost=${host}\nport=${port}\nuser=${user}\npassword=${password}\ndbname=${DATABASE}\n`;
}

async function createDatabase({ host, port, user, password }: Postgres): Promise<void> {
  const client = new pg.Client({ host, port, user, password, database: 'postgres' });
  await client.connect();
  try {
    const found = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}

async function named(url: URL): Promise<LocalDatabase> {
  const description = `DATABASE_URL: ${url.pathname.slice(1)} at ${url.host}`;
  const ended = new Promise<void>(() => undefined);
  if (url.hostname.endsWith(NEON_DOMAIN)) {
    return {
      workerUrl: url.href,
      directUrl: withoutPooler(url).href,
      description,
      sqlEndpointUrl: undefined,
      dataFolder: undefined,
      ended,
      stop: () => Promise.resolve(),
    };
  }
  if (!NO_TLS.has(url.searchParams.get('sslmode') ?? 'disable')) {
    throw new Error(
      'DATABASE_URL asks for TLS (sslmode), which the local /sql endpoint does not speak: use a Neon host or sslmode=disable.',
    );
  }
  const endpoint = await startSqlEndpoint({
    upstream: { host: url.hostname, port: Number(url.port || DEFAULT_PORT) },
  });
  return {
    ...throughEndpoint(url, endpoint),
    description,
    dataFolder: undefined,
    ended,
    stop: () => endpoint.close(),
  };
}

function throughEndpoint(
  direct: URL,
  endpoint: SqlEndpoint,
): Pick<LocalDatabase, 'workerUrl' | 'directUrl' | 'sqlEndpointUrl'> {
  const worker = new URL(direct);
  worker.host = `127.0.0.1:${endpoint.port}`;
  worker.search = '';
  return { workerUrl: worker.href, directUrl: direct.href, sqlEndpointUrl: endpoint.url };
}

/** Migrations hold a session lock, which Neon's pooler does not keep; its direct host has the same name without "-pooler". */
function withoutPooler(url: URL): URL {
  const direct = new URL(url);
  direct.hostname = url.hostname.replace(/^([^.]+)-pooler\./, '$1.');
  return direct;
}

/** By the rules of the Worker, which will get it. */
function parse(given: string): URL {
  parseConnectionString(given);
  return new URL(given);
}
