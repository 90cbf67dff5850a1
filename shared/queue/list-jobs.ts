import type { Sql, SqlOptions } from '../ports.ts';
import type { JobState, JobSummary } from './job.ts';

export interface ListJobsInput {
  readonly queue?: string;
  readonly state?: JobState;
  /** 1 to 200. */
  readonly limit: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

export interface JobPage {
  readonly jobs: readonly JobSummary[];
  /** Null on the last page. A page may be short and still have one: a rare filter is searched a bounded way at a time. */
  readonly nextCursor: string | null;
}

/**
 * Jobs, newest first, without payloads and results.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const page = await listJobs(sql, { queue: 'emails', state: 'dead', limit: 50 });
 */
export async function listJobs(
  sql: Sql,
  input: ListJobsInput,
  options?: SqlOptions,
): Promise<JobPage> {
  const [row] = await sql.query<{ page: { jobs: JobSummary[]; next_cursor: string | null } }>(
    'select leasehold.list_jobs($1::text, $2::text, $3::int, $4::uuid) as page',
    [input.queue ?? null, input.state ?? null, input.limit, input.cursor ?? null],
    options,
  );
  return { jobs: row?.page.jobs ?? [], nextCursor: row?.page.next_cursor ?? null };
}
