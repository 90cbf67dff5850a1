import type { Priority } from './new-job.ts';

/** The answer for one job that was added. */
export interface EnqueuedJob {
  readonly jobId: string;
  /**
   * `exists`: the same job was there already, and nothing changed. `duplicate`: a live job has the dedup key; this is
   * that job, and no new one was made.
   */
  readonly outcome: 'created' | 'exists' | 'duplicate';
  readonly queue: string;
  readonly type: string;
  readonly priority: Priority;
  readonly maxAttempts: number;
  /** When it is first due. */
  readonly dueAt: Date;
  readonly createdAt: Date;
}

export type EnqueuedRow = {
  job_id: string;
  outcome: 'created' | 'exists' | 'duplicate';
  queue: string;
  type: string;
  priority: Priority;
  max_attempts: number;
  due_at: Date;
  created_at: Date;
};

export function enqueuedJob(row: EnqueuedRow): EnqueuedJob {
  return {
    jobId: row.job_id,
    outcome: row.outcome,
    queue: row.queue,
    type: row.type,
    priority: row.priority,
    maxAttempts: row.max_attempts,
    dueAt: row.due_at,
    createdAt: row.created_at,
  };
}
