import type { Clock, Log } from '../ports.ts';
import type { DatabaseFailure } from './database-failure.ts';

/** During an outage one line at most each so many milliseconds, however many calls fail. */
const LOG_INTERVAL_MS = 10_000;

export interface OutageLog {
  /** A call gave up after so many tries. */
  gaveUp(failure: DatabaseFailure, tries: number): void;
  /** A call succeeded. */
  succeeded(): void;
}

/**
 * Tells the log about an outage in a few lines: one when it begins, one each ten seconds while it lasts, with the
 * number of failed calls in between, and one when it is over. What it remembers may be lost without harm.
 */
export function createOutageLog(log: Log, clock: Clock): OutageLog {
  let began: number | undefined;
  let lastLine = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  let logged = false;
  return {
    gaveUp: (failure, tries) => {
      const now = clock.now();
      began ??= now;
      unlogged += 1;
      if (now - lastLine < LOG_INTERVAL_MS) return;
      log.warn('database_unavailable', {
        sql_state: failure.sqlState,
        http_status: failure.httpStatus,
        neon_request_id: failure.requestId,
        tries,
        failed_calls: unlogged,
        outage_ms: now - began,
      });
      lastLine = now;
      unlogged = 0;
      logged = true;
    },
    succeeded: () => {
      if (began === undefined) return;
      if (logged) log.info('database_recovered', { outage_ms: clock.now() - began });
      began = undefined;
      logged = false;
    },
  };
}
