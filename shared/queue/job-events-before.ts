import type { Sql, SqlOptions } from '../ports.ts';
import type { LogEvent, LogFilter } from './log-event.ts';

export interface JobEventsBeforeInput extends LogFilter {
  /** `nextCursor` of the page before; left out: from the newest. */
  readonly cursor?: string;
  /** 1 to 200. */
  readonly limit: number;
}

export interface NewestLogEvents {
  readonly events: readonly LogEvent[];
  /** Undefined: nothing is older. A rare filter is searched a bounded way at a time: a page may be empty and have one. */
  readonly nextCursor: string | undefined;
}

/**
 * The event log of all jobs and queues, the newest first, committed events above the oldest running transaction included, with
 * a null cursor. What commits late may lie before a place that was passed: who must skip nothing uses `jobEventsSince`.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const { events } = await jobEventsBefore(sql, { limit: 50, actor: 'maria' });
 */
export async function jobEventsBefore(
  sql: Sql,
  input: JobEventsBeforeInput,
  options?: SqlOptions,
): Promise<NewestLogEvents> {
  const { cursor, limit, queue, queues, actor, type } = input;
  const [row] = await sql.query<{ page: { events: LogEvent[]; next_cursor: string | null } }>(
    'select leasehold.job_events_before($1::text, $2::jsonb, $3::int) as page',
    [cursor ?? null, JSON.stringify({ queue, queues, actor, type }), limit],
    options,
  );
  const page = row?.page;
  return { events: page?.events ?? [], nextCursor: page?.next_cursor ?? undefined };
}
