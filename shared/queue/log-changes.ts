import type { Sql, SqlOptions } from '../ports.ts';
import type { JobSummary } from './job.ts';
import type { LogChanges, LogEvent } from './log-event.ts';

/** Where a reader of changes is. */
export interface LogPlace {
  /** Of the last settled event. */
  readonly cursor: string;
  /** The snapshot up to which early events were given. */
  readonly seen: string;
}

export interface LogChangesInput {
  /** `place` of the answer before; left out: nothing but the place where the log ends now. */
  readonly place?: Pick<LogPlace, 'cursor'> & Partial<LogPlace>;
  /** 1 to 200 settled events, and as many early ones. */
  readonly limit: number;
}

export interface LogChangesPage extends LogChanges {
  readonly place: LogPlace;
  /** Ask again at once. */
  readonly more: boolean;
  /** Something is committed that may be given again with a cursor: ask again soon. */
  readonly unsettled: boolean;
}

/**
 * What a live feed reads: settled events after a place, then those that are committed above a transaction that still runs,
 * and the jobs that they are about.
 *
 * @throws {LeaseholdError} `invalid_request` for a cursor of another database.
 * @example const page = await logChanges(sql, { place, limit: 200 });
 */
export async function logChanges(
  sql: Sql,
  input: LogChangesInput,
  options?: SqlOptions,
): Promise<LogChangesPage> {
  const [row] = await sql.query<{ page: Row }>(
    'select leasehold.log_changes($1::text, $2::text, $3::int) as page',
    [input.place?.cursor ?? null, input.place?.seen ?? null, input.limit],
    options,
  );
  if (row === undefined) throw new TypeError('log_changes gave no row');
  const { cursor, seen, ...page } = row.page;
  return { ...page, place: { cursor, seen } };
}

interface Row {
  readonly events: LogEvent[];
  readonly jobs: JobSummary[];
  readonly cursor: string;
  readonly seen: string;
  readonly more: boolean;
  readonly unsettled: boolean;
}
