import type { JsonObject, JsonValue } from '../json-value.ts';
import type { Priority } from './new-job.ts';

/** A job that somebody has taken, a worker under a lease or a person under a hold. */
export interface TakenJob {
  readonly jobId: string;
  readonly queue: string;
  readonly type: string;
  readonly payload: JsonValue;
  readonly headers: JsonObject;
  readonly schemaVersion: number;
  readonly priority: Priority;
  /** Of this claim: grows with every claim of the job, never reset; a 64-bit number as text. */
  readonly fencingToken: string;
  /** Attempts that workers have had, a worker's own included. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** By the database clock. */
  readonly leaseExpiresAt: Date;
  /** Left when the database answered, so that no local clock has to agree with it. */
  readonly leaseRemainingMs: number;
  readonly createdAt: Date;
  readonly orderingKey: string | null;
  /** How often it came back from the dead letters. */
  readonly redrives: number;
  /** What a person wrote who sent the job back to its queue. */
  readonly note: string | null;
}

export function takenJob(row: TakenRow): TakenJob {
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
    leaseExpiresAt: row.lease_expires_at,
    leaseRemainingMs: Number(row.lease_remaining_ms),
    createdAt: row.created_at,
    orderingKey: row.ordering_key,
    redrives: row.redrives,
    note: row.note,
  };
}

export type TakenRow = {
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
  lease_expires_at: Date;
  lease_remaining_ms: string;
  created_at: Date;
  ordering_key: string | null;
  redrives: number;
  note: string | null;
};
