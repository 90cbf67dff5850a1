import { neon, type NeonQueryFunction } from '@neondatabase/serverless';
import type {
  SqlEndpoint,
  SqlEndpointOptions,
} from '../../../infra/local/sql-endpoint/endpoint.ts';
import { createHttpSql } from '../../support/http-sql.ts';

export interface OfficialDriver {
  /** Neon's own driver, pointed at an endpoint before the test database. */
  readonly sql: NeonQueryFunction<false, false>;
  readonly endpoint: SqlEndpoint;
  readonly connectionString: string;
  /** A request as any HTTP client could make it, with the driver's headers unless others are given. */
  post(body: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

export async function officialDriver(
  database: { readonly pgUrl: string },
  endpointOptions: Pick<SqlEndpointOptions, 'poolSize' | 'connectionWaitMs'> = {},
): Promise<OfficialDriver> {
  const http = await createHttpSql({ sqlUrl: database.pgUrl }, { endpoint: endpointOptions });
  const { connectionString, endpoint } = http;
  return {
    sql: neon(connectionString),
    endpoint,
    connectionString,
    post: (body, headers = { 'neon-raw-text-output': 'true', 'neon-array-mode': 'true' }) =>
      fetch(endpoint.url, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'neon-connection-string': connectionString, ...headers },
      }),
    close: () => http.close(),
  };
}
