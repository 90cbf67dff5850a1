import {
  IDEMPOTENCY_KEY_HOURS,
  MAX_RETENTION_CALLS,
  MAX_RETENTION_ROWS,
  RETENTION_EVERY_SECONDS,
} from '../../shared/limits.ts';
import { retainOutbox } from '../../shared/outbox/retain-outbox.ts';
import { retain } from '../../shared/queue/retain.ts';
import { takeTurn } from '../../shared/queue/take-turn.ts';
import type { AppDeps } from '../deps.ts';

/** What one pass of retention did. */
export interface RetentionReport {
  /** False when another tick had this hour's turn. */
  readonly ran: boolean;
  /** Rows and partitions. */
  readonly removed: number;
  /** False when the bound came first; the next turn goes on. */
  readonly finished: boolean;
}

/**
 * Retention, once an hour at most, whichever tick comes first: deletes what has outlived its queue's retention until
 * nothing is left or a bound is reached. Live and dead jobs, and events that are still to be published, are never touched.
 * May be cut off after any call.
 *
 * @param signal stops between two calls
 */
export async function retainHourly(
  { sql, log, config }: Pick<AppDeps, 'sql' | 'log' | 'config'>,
  signal?: AbortSignal,
): Promise<RetentionReport> {
  const { taken } = await takeTurn(sql, {
    name: 'retention',
    everySeconds: RETENTION_EVERY_SECONDS,
  });
  if (!taken) return { ran: false, removed: 0, finished: true };
  const { payloadDays, eventDays, inboxDays } = config.outbox;
  const limit = MAX_RETENTION_ROWS;
  const kinds = [
    () => retain(sql, { limit, keyHours: IDEMPOTENCY_KEY_HOURS }),
    () => retainOutbox(sql, { limit, payloadDays, eventDays, inboxDays }),
  ];
  let total = 0;
  let finished = true;
  for (const retainSome of kinds) {
    let rest = 1;
    for (let call = 0; call < MAX_RETENTION_CALLS && rest > 0; call += 1) {
      signal?.throwIfAborted();
      rest = (await retainSome()).removed;
      total += rest;
    }
    finished &&= rest === 0;
  }
  log.info('retained', { removed: total, finished });
  return { ran: true, removed: total, finished };
}
