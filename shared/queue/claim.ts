import type { JsonObject, JsonValue } from '../json-value.ts';
import type { Sql, SqlOptions } from '../ports.ts';
import type { Priority } from './new-job.ts';

export interface ClaimInput {
  /** Exactly one queue. */
  readonly queue: string;
  /** Who takes the job, 1 to 200 characters; every later call on the lease names it. */
  readonly owner: string;
  /** A UUID of the caller's, new for each claim; repeated after a lost answer it gives the same lease. */
  readonly claimId: string;
  /** 1 to 3,600, never more than the time left to the caller; default: the queue's. */
  readonly leaseSeconds?: number;
}

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
}

export type ClaimOutcome =
  { readonly outcome: 'claimed'; readonly job: ClaimedJob } | { readonly outcome: 'empty' };

/**
 * Takes one due job of one queue under a lease, or finds nothing. One round trip; nothing stays open afterwards.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const taken = await claim(sql, { queue: 'emails', owner: 'worker-7', claimId: ids.uuidv7() });
 */
export async function claim(
  sql: Sql,
  input: ClaimInput,
  options?: SqlOptions,
): Promise<ClaimOutcome> {
  const [row] = await sql.query<ClaimedRow>(
    'select * from leasehold.claim($1::text, $2::text, $3::uuid, $4::int)',
    [input.queue, input.owner, input.claimId, input.leaseSeconds ?? null],
    options,
  );
  return row === undefined ? { outcome: 'empty' } : { outcome: 'claimed', job: claimedJob(row) };
}

function claimedJob(row: ClaimedRow): ClaimedJob {
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
  };
}

type ClaimedRow = {
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
};
