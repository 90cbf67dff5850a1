import type { JsonValue } from '../json-value.ts';
import type { Sql, SqlOptions } from '../ports.ts';
import { takenJob } from './taken-job.ts';
import type { TakenJob, TakenRow } from './taken-job.ts';

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
export interface HeldJob extends TakenJob {
  /** Attempts that workers had. */
  readonly attempt: number;
  /** Why it is here; with `asked_for_human` the message of the error is the holder's question. */
  readonly reason: string;
  readonly error: JsonValue;
  readonly escalatedAt: Date;
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
    ...takenJob(row),
    reason: row.reason,
    error: row.error,
    escalatedAt: row.escalated_at,
  };
}

type HeldRow = TakenRow & {
  reason: string;
  error: JsonValue;
  escalated_at: Date;
};
