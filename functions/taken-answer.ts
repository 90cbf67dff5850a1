import type { TakenJob } from '../shared/queue/taken-job.ts';

/** A job that somebody has taken, as the API shows it to them. */
export function takenAnswer(job: TakenJob): Record<string, unknown> {
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
    fencing_token: job.fencingToken,
    lease_expires_at: job.leaseExpiresAt.toISOString(),
    lease_remaining_ms: job.leaseRemainingMs,
  };
}
