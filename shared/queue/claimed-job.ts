import type { JsonObject, JsonValue } from '../json-value.ts';
import type { Priority } from './new-job.ts';

/** A job and the lease on it. */
export interface ClaimedJob {
  readonly jobId: string;
  readonly queue: string;
  readonly type: string;
  readonly payload: JsonValue;
  readonly headers: JsonObject;
  readonly schemaVersion: number;
  readonly priority: Priority;
  /** Grows with every claim of the job, never reset; a 64-bit number as text. */
  readonly fencingToken: string;
  /** From 1; counted when claimed. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly leaseSeconds: number;
  /** By the database clock. */
  readonly leaseExpiresAt: Date;
  /** Left when the database answered, so that no local clock has to agree with it. */
  readonly leaseRemainingMs: number;
  readonly runDeadlineAt: Date;
  readonly runRemainingMs: number;
  readonly createdAt: Date;
  /** A hint that the queue has further due work. */
  readonly moreDue: boolean;
  readonly orderingKey: string | null;
  /** How often it came back from the dead letters. */
  readonly redrives: number;
  /** What a person wrote who sent the job back to its queue. */
  readonly note: string | null;
}

export function claimedJob(row: ClaimedRow): ClaimedJob {
  return {
    jobId: row.job_id,
    queue: row.queue,
    type: row.type,
    payload: row.payload,
    headers: row.headers,
    schemaVersion: row.schema_version,
    priority: row.priority,
    fencingToken: row.fencing_token,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    leaseSeconds: row.lease_seconds,
    leaseExpiresAt: row.lease_expires_at,
    leaseRemainingMs: Number(row.lease_remaining_ms),
    runDeadlineAt: row.run_deadline_at,
    runRemainingMs: Number(row.run_remaining_ms),
    createdAt: row.created_at,
    moreDue: row.more_due,
    orderingKey: row.ordering_key,
    redrives: row.redrives,
    note: row.note,
  };
}

export type ClaimedRow = {
  job_id: string;
  queue: string;
  type: string;
  payload: JsonValue;
  headers: JsonObject;
  schema_version: number;
  priority: Priority;
  fencing_token: string;
  attempt: number;
  max_attempts: number;
  lease_seconds: number;
  lease_expires_at: Date;
  lease_remaining_ms: string;
  run_deadline_at: Date;
  run_remaining_ms: string;
  created_at: Date;
  more_due: boolean;
  ordering_key: string | null;
  redrives: number;
  note: string | null;
};
