import type { Sql, SqlOptions } from '../ports.ts';
import type { LogEvent, LogFilter } from './log-event.ts';

export interface JobEventsSinceInput extends LogFilter {
  /** `nextCursor` of the page before; left out: from the beginning. */
  readonly cursor?: string;
  /** 1 to 200. */
  readonly limit: number;
}

export interface LogEventPage {
  readonly events: readonly LogEvent[];
  /** Undefined only while there is no event at all. */
  readonly nextCursor: string | undefined;
  /** Whether to ask again at once: a rare filter is searched a bounded way at a time, so a page may be short, or empty. */
  readonly more: boolean;
}

/**
 * The event log of all jobs and queues, oldest first, for readers that keep a cursor. None is ever skipped: it ends below the
 * oldest transaction that still runs.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const page = await jobEventsSince(sql, { cursor, limit: 100, type: 'dead' });
 */
export async function jobEventsSince(
  sql: Sql,
  input: JobEventsSinceInput,
  options?: SqlOptions,
): Promise<LogEventPage> {
  const filter = {
    queue: input.queue,
    queues: input.queues,
    actor: input.actor,
    type: input.type,
  };
  const [row] = await sql.query<{
    page: { events: LogEvent[]; next_cursor: string | null; more: boolean };
  }>(
    'select leasehold.job_events_since($1::text, $2::jsonb, $3::int) as page',
    [input.cursor ?? null, JSON.stringify(filter), input.limit],
    options,
  );
  const page = row?.page;
  return {
    events: page?.events ?? [],
    nextCursor: page?.next_cursor ?? undefined,
    more: page?.more ?? false,
  };
}
