import type { Sql, SqlOptions } from '../ports.ts';
import type { LogEvent } from './log-event.ts';

export interface JobHistoryInput {
  readonly jobId: string;
  /** `nextAfter` of the page before, or the id of any event of the job. */
  readonly after?: string;
  /** 1 to 200. */
  readonly limit: number;
}

export interface JobHistory {
  readonly events: readonly LogEvent[];
  /** Null: this was all. */
  readonly nextAfter: string | null;
}

/**
 * The event log of one job, oldest first; undefined when no job has this id.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const history = await jobHistory(sql, { jobId, limit: 200 });
 */
export async function jobHistory(
  sql: Sql,
  input: JobHistoryInput,
  options?: SqlOptions,
): Promise<JobHistory | undefined> {
  const [row] = await sql.query<{
    page: { events: LogEvent[]; next_after: string | null } | null;
  }>(
    'select leasehold.job_history($1::uuid, $2::text, $3::int) as page',
    [input.jobId, input.after ?? null, input.limit],
    options,
  );
  const page = row?.page ?? undefined;
  return page === undefined ? undefined : { events: page.events, nextAfter: page.next_after };
}
