import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

import { parseConnectionString } from '../../../shared/database/connection-string.ts';
import { redactor } from '../../../shared/database/redact.ts';
import { ROOT } from '../../local/state-folder.ts';
import type { Settings } from './config-check.ts';

const CONNECT_TIMEOUT_MS = 20_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** A check that waits behind somebody's lock gives up: it must not become the next one that others wait for. */
const LOCK_TIMEOUT_MS = 2000;

export type Query = <Row extends pg.QueryResultRow>(
  text: string,
  values?: readonly unknown[],
) => Promise<Row[]>;

/** One session of the checks. */
export interface DoctorDatabase {
  /** User, host and database; no password. */
  readonly description: string;
  readonly query: Query;
  /** Runs statements of which nothing stays. */
  readonly rolledBack: <Value>(run: (query: Query) => Promise<Value>) => Promise<Value>;
  readonly close: () => Promise<void>;
}

/** `DATABASE_URL`, or the database of `npm start` in this checkout when that is the service. */
export function databaseUrlOf(settings: Settings, isLocal: boolean): string | undefined {
  return settings['DATABASE_URL'] || (isLocal ? localDatabaseUrl() : undefined);
}

/**
 * @throws {LeaseholdError} `config_invalid` for a string that is no connection string
 * @throws with a text in which the connection string does not stand
 */
export async function openDatabase(connectionString: string): Promise<DoctorDatabase> {
  const { user, host, database } = parseConnectionString(connectionString);
  const redact = redactor(connectionString);
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'leasehold doctor',
  });
  // The connection may die while no query runs; the next query then says so.
  client.on('error', () => undefined);
  const safely = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    try {
      return await work();
    } catch (error) {
      throw safeError(error, redact);
    }
  };
  const query: Query = async <Row extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ) => (await safely(async () => await client.query<Row>(text, [...values]))).rows;
  await safely(() => client.connect());
  await query(
    `select set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false)`,
    [String(STATEMENT_TIMEOUT_MS), String(LOCK_TIMEOUT_MS)],
  );
  return {
    description: `${user}@${host}/${database}`,
    query,
    rolledBack: async (run) => {
      await query('begin read only');
      try {
        return await run(query);
      } finally {
        await query('rollback');
      }
    },
    close: () => client.end(),
  };
}

/** An error of Postgres keeps its SQLSTATE. */
function safeError(error: unknown, redact: (text: string) => string): Error {
  const text = redact(error instanceof Error ? error.message : String(error));
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  return Object.assign(new Error(text), code === undefined ? {} : { code });
}

export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** As `npm start` writes it for `psql`. */
function localDatabaseUrl(): string | undefined {
  const file = join(ROOT, '.leasehold', 'pg_service.conf');
  if (!existsSync(file)) return undefined;
  const { host, port, user, password, dbname } = Object.fromEntries(
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line) => {
        const at = line.indexOf('=');
        return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
      }),
  ) as Record<string, string | undefined>;
  if (!host || !user || !password || !dbname) return undefined;
  const url = new URL(`postgres://${host}:${port ?? '5432'}/${dbname}`);
  url.username = user;
  url.password = password;
  return url.href;
}
