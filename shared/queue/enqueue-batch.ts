import type { Sql, SqlOptions } from '../ports.ts';
import { enqueuedJob, type EnqueuedJob, type EnqueuedRow } from './enqueued-job.ts';
import { newJobsAsJson, type NewJob } from './new-job.ts';

export interface EnqueueBatchInput {
  /** 1 to 1,000 jobs. */
  readonly jobs: readonly NewJob[];
  /** Who adds them, for the log. */
  readonly actor: string;
}

/**
 * Adds all jobs or none, in one round trip; the answers stand in the order of the jobs. Safe to repeat by job id.
 *
 * @throws {LeaseholdError} `invalid_request` naming the job and the rule; `job_id_conflict` when an id belongs to another job.
 * @example await enqueueBatch(sql, { jobs: [{ id: ids.uuidv7(), queue: 'emails', type: 'email.send', payload: {} }], actor: 'shop' });
 */
export async function enqueueBatch(
  sql: Sql,
  input: EnqueueBatchInput,
  options?: SqlOptions,
): Promise<EnqueuedJob[]> {
  const rows = await sql.query<EnqueuedRow>(
    'select * from leasehold.enqueue_batch($1::jsonb, $2::text)',
    [newJobsAsJson(input.jobs), input.actor],
    options,
  );
  return rows.map(enqueuedJob);
}
