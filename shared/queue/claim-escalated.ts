import type { JsonObject, JsonValue } from '../json-value.ts';
import type { Sql, SqlOptions } from '../ports.ts';
import type { Priority } from './new-job.ts';

export interface ClaimEscalatedInput {
  /** Who takes it, 1 to 200 characters. */
  readonly owner: string;
  /** A UUID of the caller's, new for each claim; repeated it gives the same hold. */
  readonly claimId: string;
  /** Default: any. */
  readonly queue?: string;
  /** Only this job; default: the one that has waited longest. */
  readonly jobId?: string;
  /** 1 to 86,400; default 900. In a repeat, one that reaches further lengthens the hold. */
  readonly leaseSeconds?: number;
  /** Only of these queues, for a caller who may not learn of others. */
  readonly only?: readonly string[];
}

/** An escalated job and a person's hold on it. */
export interface HeldJob {
  readonly jobId: string;
  readonly queue: string;
  readonly type: string;
  readonly payload: JsonValue;
  readonly headers: JsonObject;
  readonly schemaVersion: number;
  readonly priority: Priority;
  /** Of this hold; a 64-bit number as text. */
  readonly fencingToken: string;
  /** Attempts that workers had. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly redrives: number;
  readonly orderingKey: string | null;
  readonly createdAt: Date;
  /** Why it is here; with `asked_for_human` the message of the error is the holder's question. */
  readonly reason: string;
  readonly error: JsonValue;
  readonly note: string | null;
  readonly escalatedAt: Date;
  readonly leaseExpiresAt: Date;
  /** Left when the database answered, so that no local clock has to agree with it. */
  readonly leaseRemainingMs: number;
}

/**
 * A person takes an escalated job under a hold of their own, or finds none free.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const held = await claimEscalated(sql, { owner: 'maria', claimId: ids.uuidv7(), queue: 'refunds' });
 */
export async function claimEscalated(
  sql: Sql,
  input: ClaimEscalatedInput,
  options?: SqlOptions,
): Promise<HeldJob | undefined> {
  const [row] = await sql.query<HeldRow>(
    'select * from leasehold.claim_escalated($1::text, $2::uuid, $3::text, $4::uuid, $5::int, $6::jsonb)',
    [
      input.owner,
      input.claimId,
      input.queue ?? null,
      input.jobId ?? null,
      input.leaseSeconds ?? null,
      input.only === undefined ? null : JSON.stringify(input.only),
    ],
    options,
  );
  if (row === undefined) return undefined;
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
    redrives: row.redrives,
    orderingKey: row.ordering_key,
    createdAt: row.created_at,
    reason: row.reason,
    error: row.error,
    note: row.note,
    escalatedAt: row.escalated_at,
    leaseExpiresAt: row.lease_expires_at,
    leaseRemainingMs: Number(row.lease_remaining_ms),
  };
}

type HeldRow = {
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
  redrives: number;
  ordering_key: string | null;
  created_at: Date;
  reason: string;
  error: JsonValue;
  note: string | null;
  escalated_at: Date;
  lease_expires_at: Date;
  lease_remaining_ms: string;
};
