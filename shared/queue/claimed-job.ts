import { takenJob } from './taken-job.ts';
import type { TakenJob, TakenRow } from './taken-job.ts';

/** A job and the lease on it. */
export interface ClaimedJob extends TakenJob {
  /** From 1; counted when claimed. */
  readonly attempt: number;
  readonly leaseSeconds: number;
  readonly runDeadlineAt: Date;
  readonly runRemainingMs: number;
  /** A hint that the queue has further due work. */
  readonly moreDue: boolean;
}

export function claimedJob(row: ClaimedRow): ClaimedJob {
  return {
    ...takenJob(row),
    leaseSeconds: row.lease_seconds,
    runDeadlineAt: row.run_deadline_at,
    runRemainingMs: Number(row.run_remaining_ms),
    moreDue: row.more_due,
  };
}

export type ClaimedRow = TakenRow & {
  lease_seconds: number;
  run_deadline_at: Date;
  run_remaining_ms: string;
  more_due: boolean;
};
