import type { Sql, SqlOptions } from '../ports.ts';
import type { JobState, JobSummary } from './job.ts';

/** Every part may be left out. */
export interface JobFilter {
  readonly queue?: string;
  readonly type?: string;
  readonly state?: JobState;
  readonly tag?: string;
  readonly orderingKey?: string;
  readonly dedupKey?: string;
  /** ISO 8601 with an offset: made at this instant or later. */
  readonly from?: string;
  /** ISO 8601 with an offset: made before this instant. */
  readonly until?: string;
}

export interface ListJobsInput extends JobFilter {
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
  const filter = {
    queue: input.queue,
    type: input.type,
    state: input.state,
    tag: input.tag,
    ordering_key: input.orderingKey,
    dedup_key: input.dedupKey,
    from: input.from,
    until: input.until,
  };
  const [row] = await sql.query<{ page: { jobs: JobSummary[]; next_cursor: string | null } }>(
    'select leasehold.list_jobs($1::jsonb, $2::int, $3::uuid) as page',
    [JSON.stringify(filter), input.limit, input.cursor ?? null],
    options,
  );
  return { jobs: row?.page.jobs ?? [], nextCursor: row?.page.next_cursor ?? null };
}
