import { LeaseholdError } from '../errors.ts';
import type { Sql, SqlOptions } from '../ports.ts';
import { enqueuedJob, type EnqueuedJob, type EnqueuedRow } from './enqueued-job.ts';
import { newJobsAsJson, type NewJob } from './new-job.ts';

export interface EnqueueInput {
  readonly job: NewJob;
  /** Who adds it, for the log. */
  readonly actor: string;
}

/**
 * Adds one job. Safe to repeat by job id.
 *
 * @throws {LeaseholdError} `invalid_request` naming the rule; `job_id_conflict` when the id belongs to another job.
 * @example await enqueue(sql, { job: { id: ids.uuidv7(), queue: 'emails', type: 'email.send', payload: {} }, actor: 'shop' });
 */
export async function enqueue(
  sql: Sql,
  input: EnqueueInput,
  options?: SqlOptions,
): Promise<EnqueuedJob> {
  const [row] = await sql.query<EnqueuedRow>(
    'select * from leasehold.enqueue_batch($1::jsonb, $2::text)',
    [newJobsAsJson([input.job]), input.actor],
    options,
  );
  if (row === undefined) throw new LeaseholdError('internal_error', 'The enqueue gave no row.');
  return enqueuedJob(row);
}
