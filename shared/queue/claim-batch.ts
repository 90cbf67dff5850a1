import type { Sql, SqlOptions } from '../ports.ts';
import { claimedJob, type ClaimedJob, type ClaimedRow } from './claimed-job.ts';

export interface ClaimBatchInput {
  /** Exactly one queue. */
  readonly queue: string;
  /** Who takes the jobs, 1 to 200 characters; every later call on the leases names it. */
  readonly owner: string;
  /** A UUID of the caller's, new for each claim; repeated after a lost answer it gives the same leases. */
  readonly claimId: string;
  /** 1 to 100 jobs. */
  readonly limit: number;
  /** 1 to 3,600; default: the queue's. */
  readonly leaseSeconds?: number;
  /** 1 to 3,600: the time left to the caller, which cuts the lease whatever it was. */
  readonly leaseAtMost?: number;
  /** 1 to 3,600: expected run time of a job; no more are given than fit into the lease one after another. Default 1. */
  readonly secondsPerJob?: number;
}

/**
 * Takes up to `limit` due jobs of one queue, never more than their lease can carry. One round trip.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const jobs = await claimBatch(sql, { queue: 'emails', owner: 'w', claimId: ids.uuidv7(), limit: 20 });
 */
export async function claimBatch(
  sql: Sql,
  input: ClaimBatchInput,
  options?: SqlOptions,
): Promise<ClaimedJob[]> {
  const rows = await sql.query<ClaimedRow>(
    'select * from leasehold.claim($1::text, $2::text, $3::uuid, $4::int, $5::int, $6::int, $7::int)',
    [
      input.queue,
      input.owner,
      input.claimId,
      input.leaseSeconds ?? null,
      input.leaseAtMost ?? null,
      input.limit,
      input.secondsPerJob ?? null,
    ],
    options,
  );
  return rows.map(claimedJob);
}
