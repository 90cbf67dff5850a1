/**
 * The `Sql` port over Neon's HTTP driver. The driver's own habits that this file exists for:
 * - its promise is lazy and runs the query again on every `then`: it is awaited once, here, and never handed out;
 * - `fetchOptions` are merged last, so headers in them would replace the driver's own: none are given;
 * - a failure while the answer is read is a raw error, not the driver's: every throw is classified alike;
 * - it has no timeout and no retry: `withRetry` has both;
 * - `fetchFunction` and `fetchEndpoint` are settings of the whole process: both are set to pure functions, and the
 *   `fetch` of this instance travels with each call under a symbol.
 */
import { neon, neonConfig, types } from '@neondatabase/serverless';
import { LeaseholdError } from '../errors.ts';
import type { Clock, Log, Random, Sql, SqlOptions, SqlRow, SqlValue, Timer } from '../ports.ts';
import { checkBindable } from './bind-values.ts';
import { parseConnectionString } from './connection-string.ts';
import { DatabaseFailure } from './database-failure.ts';
import { isLoopback, neonEndpoint } from './neon-endpoint.ts';
import { createOutageLog } from './outage-log.ts';
import { redactor } from './redact.ts';
import { rowTypes } from './row-types.ts';
import { withRetry, type RetryPorts } from './with-retry.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface NeonSqlOptions {
  /** A secret. A loopback host is spoken to at `http://host:port/sql`. */
  readonly connectionString: string;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly random: Random;
  readonly log: Log;
  /** For this instance alone; the platform's when left out. */
  readonly fetch?: Fetch;
}

/**
 * Makes the `Sql` port for a Neon database, or for the local endpoint. It holds no connection and may be kept between
 * requests.
 *
 * @throws {LeaseholdError} `config_invalid` for a bad connection string, which is never repeated.
 * @example const sql = createNeonSql({ connectionString, clock, timer, random, log });
 *   await sql.query('select now() as at', []);
 */
export function createNeonSql(options: NeonSqlOptions): Sql {
  const { connectionString, fetch: fetchOfInstance = platformFetch } = options;
  checkTarget(connectionString);
  neonConfig.fetchEndpoint = neonEndpoint;
  neonConfig.fetchFunction = fetchOfCall;
  const driver = neon(connectionString);
  const redact = redactor(connectionString);
  const outages = createOutageLog(options.log, options.clock);
  const ports: RetryPorts = { ...options, outages };
  return {
    query: async <Row extends SqlRow>(
      text: string,
      values: readonly SqlValue[],
      { signal }: SqlOptions = {},
    ): Promise<Row[]> => {
      checkBindable(values);
      const attempt = async (stop: AbortSignal): Promise<Row[]> => {
        const seen: Seen = {};
        const fetchOptions = {
          signal: stop,
          // A redirect would carry the password to another host.
          redirect: 'manual',
          [FETCH]: noting(fetchOfInstance, seen),
        };
        try {
          const rows = await driver.query(text, [...values], { fetchOptions, types: ROW_TYPES });
          return rows as Row[];
        } catch (thrown) {
          throw new DatabaseFailure(thrown, {
            httpStatus: seen.response?.status,
            requestId: seen.response?.headers.get('neon-request-id') ?? undefined,
            abortedByUs: stop.aborted,
            redact,
          });
        }
      };
      return withRetry(attempt, ports, signal);
    },
  };
}

function checkTarget(connectionString: string): void {
  const { host, port } = parseConnectionString(connectionString);
  if (isLoopback(host) && port === '') {
    const message = 'names a local host without the port of its SQL endpoint';
    throw new LeaseholdError('config_invalid', `DATABASE_URL ${message}.`, {
      problems: [{ path: 'DATABASE_URL', message }],
    });
  }
}

const ROW_TYPES = rowTypes(types);

/** Carries the `fetch` of one call through the driver, which copies it with the other fetch options. */
const FETCH = Symbol('leasehold.fetch');

type CallInit = RequestInit & { readonly [FETCH]?: Fetch };

/** Set as the driver's `fetchFunction`. Calls that are not ours get the platform's `fetch`, as they would anyway. */
function fetchOfCall(
  url: string,
  { [FETCH]: fetchOfThisCall, ...init }: CallInit,
): Promise<Response> {
  return (fetchOfThisCall ?? platformFetch)(url, init);
}

/** Looked up at each call: some platforms put their own `fetch` in place late. */
function platformFetch(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, init);
}

/** The answer of one try. The driver keeps its status only inside a message. */
interface Seen {
  response?: Response;
}

function noting(inner: Fetch, seen: Seen): Fetch {
  return async (url, init) => {
    const response = await inner(url, init);
    seen.response = response;
    return response;
  };
}
