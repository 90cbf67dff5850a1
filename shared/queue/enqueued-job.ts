import type { Priority } from './new-job.ts';

/** The answer for one job that was added. */
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

export type EnqueuedRow = {
  job_id: string;
  outcome: 'created' | 'exists';
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
