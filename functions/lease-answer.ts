import type { ClaimedJob } from '../shared/queue/claimed-job.ts';
import { takenAnswer } from './taken-answer.ts';

/** A job and the lease on it, as the API shows them. */
export function leaseAnswer(job: ClaimedJob): Record<string, unknown> {
  return {
    ...takenAnswer(job),
    idempotency_key: job.jobId,
    lease_seconds: job.leaseSeconds,
    run_deadline_at: job.runDeadlineAt.toISOString(),
    run_remaining_ms: job.runRemainingMs,
    more_due: job.moreDue,
  };
}
