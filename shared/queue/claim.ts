import type { Sql, SqlOptions } from '../ports.ts';
import { claimedJob, type ClaimedJob, type ClaimedRow } from './claimed-job.ts';

export interface ClaimInput {
  /** Exactly one queue. */
  readonly queue: string;
  /** Who takes the job, 1 to 200 characters; every later call on the lease names it. */
  readonly owner: string;
  /** A UUID of the caller's, new for each claim; repeated after a lost answer it gives the same lease. */
  readonly claimId: string;
  /** 1 to 3,600; default: the queue's. */
  readonly leaseSeconds?: number;
  /** 1 to 3,600: the time left to the caller, which cuts the lease whatever it was. */
  readonly leaseAtMost?: number;
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
    'select * from leasehold.claim($1::text, $2::text, $3::uuid, $4::int, $5::int)',
    [
      input.queue,
      input.owner,
      input.claimId,
      input.leaseSeconds ?? null,
      input.leaseAtMost ?? null,
    ],
    options,
  );
  return row === undefined ? { outcome: 'empty' } : { outcome: 'claimed', job: claimedJob(row) };
}
