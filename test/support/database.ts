import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { Sql } from '../../shared/ports.ts';
import { createPgSql } from './pg-sql.ts';

/** One migrated database of a test file's own. */
export interface TestDatabase {
  readonly name: string;
  /** Direct connection string (TCP). */
  readonly pgUrl: string;
  /** The way that the port and the driver take: through the pooler where there is one, else direct. */
  readonly sqlUrl: string;
  /** Direct connections, for statements that the test itself writes. */
  readonly pool: pg.Pool;
  /** The port that operations take, over TCP. */
  readonly sql: Sql;
  /** Closes the pool and removes the database, whoever is still connected. */
  drop(): Promise<void>;
}

/**
 * Copies the migrated template into a fresh database. One a test file, dropped in `afterAll`.
 *
 * @example
 * const database = await createTestDatabase();
 * afterAll(() => database.drop());
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { host, port, user, password, template } = inject('cluster');
  const server = `postgres://${user}:${password}@${host}:${port}`;
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin(server, `create database ${name} template ${template}`);
  const pgUrl = `${server}/${name}`;
  const pool = new pg.Pool({ connectionString: pgUrl, max: 20 });
  pool.on('error', () => undefined); // a backend that a test killed on purpose
  const pooler = inject('pooled') ? inject('pooler') : undefined;
  const sqlUrl =
    pooler === undefined ? pgUrl : `postgres://${user}:-@${pooler.host}:${pooler.port}/${name}`;
  const sqlPool = pooler === undefined ? pool : new pg.Pool({ connectionString: sqlUrl, max: 20 });
  sqlPool.on('error', () => undefined);
  return {
    name,
    pgUrl,
    sqlUrl,
    pool,
    sql: createPgSql(sqlPool),
    drop: async () => {
      await pool.end();
      if (sqlPool !== pool) await sqlPool.end();
      await asAdmin(server, `drop database if exists ${name} with (force)`);
    },
  };
}

async function asAdmin(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${server}/postgres` });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
