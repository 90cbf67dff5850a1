import type { Sql, SqlOptions } from '../ports.ts';
import { newJobsAsJson, type NewJob, type Priority } from './new-job.ts';

export interface EnqueueBatchInput {
  /** 1 to 1,000 jobs. */
  readonly jobs: readonly NewJob[];
  /** Who adds them, for the log. */
  readonly actor: string;
}

export interface EnqueuedJob {
  readonly jobId: string;
  /** `exists`: the same job was there already, and nothing changed. */
  readonly outcome: 'created' | 'exists';
  readonly queue: string;
  readonly type: string;
  readonly priority: Priority;
  readonly maxAttempts: number;
  /** When it is first due. */
  readonly dueAt: Date;
  readonly createdAt: Date;
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
  return rows.map((row) => ({
    jobId: row.job_id,
    outcome: row.outcome,
    queue: row.queue,
    type: row.type,
    priority: row.priority,
    maxAttempts: row.max_attempts,
    dueAt: row.due_at,
    createdAt: row.created_at,
  }));
}

type EnqueuedRow = {
  job_id: string;
  outcome: 'created' | 'exists';
  queue: string;
  type: string;
  priority: Priority;
  max_attempts: number;
  due_at: Date;
  created_at: Date;
};
