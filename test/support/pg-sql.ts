import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { cancelRunningStatement } from '../../infra/local/sql-endpoint/cancel.ts';
import { checkBindable } from '../../shared/database/bind-values.ts';
import { DatabaseFailure } from '../../shared/database/database-failure.ts';
import { createOutageLog } from '../../shared/database/outage-log.ts';
import { redactor } from '../../shared/database/redact.ts';
import { rowTypes } from '../../shared/database/row-types.ts';
import { withRetry } from '../../shared/database/with-retry.ts';
import type { Clock, Log, Random, Sql, SqlOptions, SqlRow, Timer } from '../../shared/ports.ts';
import type { SqlValue } from '../../shared/ports.ts';

export interface DriverPorts {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly random: Random;
  readonly log: Log;
}

/** The real clock, timer and random source of Node, and a log that is not written. */
export const NODE_PORTS: DriverPorts = {
  clock: { now: () => Date.now() },
  timer: { sleep },
  random: { next: () => Math.random() },
  log: { info: () => undefined, warn: () => undefined, error: () => undefined },
};

async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  try {
    await pause(milliseconds, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted(); // Node rejects with an AbortError of its own.
    throw error;
  }
}

/**
 * The `Sql` port over direct connections (TCP), with the retry, the row types and the errors of the HTTP driver.
 * Statements are unnamed, so that it works behind a transaction pooler too.
 *
 * @example const sql = createPgSql(new pg.Pool({ connectionString }));
 */
export function createPgSql(pool: pg.Pool, ports: DriverPorts = NODE_PORTS): Sql {
  const outages = createOutageLog(ports.log, ports.clock);
  const redact = redactor(pool.options.connectionString ?? '');
  return {
    query: async <Row extends SqlRow>(
      text: string,
      values: readonly SqlValue[],
      { signal }: SqlOptions = {},
    ): Promise<Row[]> => {
      checkBindable(values);
      const attempt = async (stop: AbortSignal): Promise<Row[]> => {
        try {
          return await queryOnce<Row>(pool, text, values, stop);
        } catch (thrown) {
          throw new DatabaseFailure(thrown, { abortedByUs: stop.aborted, redact });
        }
      };
      return withRetry(attempt, { ...ports, outages }, signal);
    },
  };
}

const ROW_TYPES = rowTypes(pg.types);

async function queryOnce<Row extends SqlRow>(
  pool: pg.Pool,
  text: string,
  values: readonly SqlValue[],
  stop: AbortSignal,
): Promise<Row[]> {
  const client = await pool.connect();
  const onAbort = (): void => void cancelRunningStatement(client, client);
  stop.addEventListener('abort', onAbort, { once: true });
  try {
    stop.throwIfAborted();
    const config = { text, values: [...values], types: ROW_TYPES, queryMode: 'extended' };
    const result = await client.query<Row>(config);
    client.release(stop.aborted);
    return result.rows;
  } catch (error) {
    // After a cancel, or anything but an answer from Postgres, the connection is not to be trusted.
    client.release(stop.aborted || !(error instanceof pg.DatabaseError));
    throw error;
  } finally {
    stop.removeEventListener('abort', onAbort);
  }
}
