import {
  startSqlEndpoint,
  type SqlEndpoint,
  type SqlEndpointOptions,
} from '../../infra/local/sql-endpoint/endpoint.ts';
import { createNeonSql, type Fetch } from '../../shared/database/neon-sql.ts';
import type { Sql } from '../../shared/ports.ts';
import type { TestDatabase } from './database.ts';
import { NODE_PORTS, type DriverPorts } from './pg-sql.ts';

export interface HttpSql {
  /** The driver that production uses, through an endpoint of its own. */
  readonly sql: Sql;
  readonly endpoint: SqlEndpoint;
  /** A `DATABASE_URL`: the database behind the endpoint. */
  readonly connectionString: string;
  readonly close: () => Promise<void>;
}

export interface HttpSqlOptions {
  readonly ports?: Partial<DriverPorts>;
  readonly fetch?: Fetch;
  readonly endpoint?: Pick<SqlEndpointOptions, 'poolSize' | 'connectionWaitMs'>;
}

/**
 * Starts a `/sql` endpoint before the database and the production driver before that.
 *
 * @example
 * const http = await createHttpSql(database);
 * http.endpoint.faults.next({ kind: 'drop_after_commit' });
 */
export async function createHttpSql(
  database: Pick<TestDatabase, 'sqlUrl'>,
  { ports, fetch, endpoint: endpointOptions }: HttpSqlOptions = {},
): Promise<HttpSql> {
  const direct = new URL(database.sqlUrl);
  const endpoint = await startSqlEndpoint({
    upstream: { host: direct.hostname, port: Number(direct.port) },
    ...endpointOptions,
  });
  const behind = new URL(direct);
  behind.port = String(endpoint.port);
  const connectionString = behind.href;
  const sql = createNeonSql({
    connectionString,
    ...NODE_PORTS,
    ...ports,
    ...(fetch === undefined ? {} : { fetch }),
  });
  return { sql, endpoint, connectionString, close: () => endpoint.close() };
}
