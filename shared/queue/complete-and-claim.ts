import type { Sql, SqlOptions } from '../ports.ts';
import { claimedJob, type ClaimedJob, type ClaimedRow } from './claimed-job.ts';
import type { CompleteInput } from './complete.ts';

/** The lease of the job that is done, its result, and the claim that follows it. */
export interface CompleteAndClaimInput extends CompleteInput {
  /** The queue to claim from, the job's own or another. */
  readonly queue: string;
  /** A UUID of the caller's, new for each claim; repeated after a lost answer it gives the same lease. */
  readonly claimId: string;
  /** 1 to 3,600; default: the queue's. */
  readonly leaseSeconds?: number;
  /** 1 to 3,600: the time left to the caller, which cuts the lease whatever it was. */
  readonly leaseAtMost?: number;
}

export type CompleteAndClaimOutcome<Next = ClaimedJob> =
  | {
      /** `cancelled`: the job had been called off; the attempt counts as succeeded and its result is kept. */
      readonly outcome: 'succeeded' | 'cancelled';
      /** A hint at further due work, beside the job that was claimed. */
      readonly moreDue: boolean;
      /** Undefined when nothing is due, or the queue is paused or at a limit. */
      readonly next: Next | undefined;
    }
  /** Nothing has changed, and nothing was claimed. */
  | { readonly outcome: 'lease_lost' };

/**
 * Ends a job as succeeded and takes the next one of a queue for the same owner: one round trip, one commit. Repeated after
 * a lost answer it gives the same outcome and the same next lease.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field; then nothing was done, the completion neither.
 * @example const end = await completeAndClaim(sql, { ...lease, queue: 'emails', claimId: ids.uuidv7() });
 */
export async function completeAndClaim(
  sql: Sql,
  input: CompleteAndClaimInput,
  options?: SqlOptions,
): Promise<CompleteAndClaimOutcome> {
  const [row] = await sql.query<CompleteAndClaimRow>(
    'select * from leasehold.complete_and_claim($1::uuid, $2::text, $3::bigint, $4::text, $5::uuid, $6::jsonb, $7::text, $8::int, $9::int)',
    [
      input.jobId,
      input.owner,
      input.fencingToken,
      input.queue,
      input.claimId,
      input.result === undefined ? null : JSON.stringify(input.result),
      input.resultProblem ?? null,
      input.leaseSeconds ?? null,
      input.leaseAtMost ?? null,
    ],
    options,
  );
  if (row === undefined || row.outcome === 'lease_lost') return { outcome: 'lease_lost' };
  const next = row.job_id === null ? undefined : claimedJob(row);
  return { outcome: row.outcome, moreDue: row.more_due, next };
}

type CompleteAndClaimRow = { outcome: 'succeeded' | 'cancelled' | 'lease_lost' } & (
  ClaimedRow | { job_id: null; more_due: boolean }
);
