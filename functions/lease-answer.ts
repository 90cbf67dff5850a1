import type { ClaimedJob } from '../shared/queue/claimed-job.ts';

/** A job and the lease on it, as the API shows them. */
export function leaseAnswer(job: ClaimedJob): Record<string, unknown> {
  return {
    id: job.jobId,
    queue: job.queue,
    type: job.type,
    payload: job.payload,
    headers: job.headers,
    schema_version: job.schemaVersion,
    priority: job.priority,
    ordering_key: job.orderingKey,
    created_at: job.createdAt.toISOString(),
    attempt: job.attempt,
    max_attempts: job.maxAttempts,
    redrives: job.redrives,
    note: job.note,
    idempotency_key: job.jobId,
    fencing_token: job.fencingToken,
    lease_seconds: job.leaseSeconds,
    lease_expires_at: job.leaseExpiresAt.toISOString(),
    lease_remaining_ms: job.leaseRemainingMs,
    run_deadline_at: job.runDeadlineAt.toISOString(),
    run_remaining_ms: job.runRemainingMs,
    more_due: job.moreDue,
  };
}
