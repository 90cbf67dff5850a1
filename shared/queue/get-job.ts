import type { Sql, SqlOptions } from '../ports.ts';
import type { Job } from './job.ts';

/**
 * Everything about one job, or undefined when no job has this id.
 *
 * @example const job = await getJob(sql, { jobId });
 */
export async function getJob(
  sql: Sql,
  input: { readonly jobId: string },
  options?: SqlOptions,
): Promise<Job | undefined> {
  const [row] = await sql.query<{ job: Job | null }>(
    'select leasehold.get_job($1::uuid) as job',
    [input.jobId],
    options,
  );
  return row?.job ?? undefined;
}
