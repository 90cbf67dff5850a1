import type { Sql, SqlOptions } from '../ports.ts';
import type { Lease } from './lease.ts';

export interface HeartbeatInput extends Lease {
  /** An acknowledged step, counted by the holder from 1; it must grow to renew the lease. */
  readonly step: number;
  /** A marker for people, up to 200 characters; one that moved renews the lease as well. */
  readonly progress?: string;
  /** 1 to 3,600 from now; default: as claimed. */
  readonly leaseSeconds?: number;
}

export type HeartbeatOutcome =
  | {
      readonly outcome: 'held';
      readonly leaseExpiresAt: Date;
      readonly leaseRemainingMs: number;
      /** The job was called off: stop and report; whatever is reported ends it as cancelled. */
      readonly cancelRequested: boolean;
    }
  | { readonly outcome: 'lease_lost' };

/**
 * Extends a lease with proof of progress, or learns that it is lost. Without new proof, as in a repeat after a lost
 * answer, the expiry in force stays. Never passes the run deadline.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const beat = await heartbeat(sql, { jobId, owner, fencingToken, step: 4, progress: '40 of 100 rows' });
 */
export async function heartbeat(
  sql: Sql,
  input: HeartbeatInput,
  options?: SqlOptions,
): Promise<HeartbeatOutcome> {
  const [row] = await sql.query<HeartbeatRow>(
    'select * from leasehold.heartbeat($1::uuid, $2::text, $3::bigint, $4::bigint, $5::text, $6::int)',
    [
      input.jobId,
      input.owner,
      input.fencingToken,
      input.step,
      input.progress ?? null,
      input.leaseSeconds ?? null,
    ],
    options,
  );
  if (row === undefined || row.outcome === 'lease_lost') return { outcome: 'lease_lost' };
  return {
    outcome: 'held',
    leaseExpiresAt: row.lease_expires_at,
    leaseRemainingMs: Number(row.lease_remaining_ms),
    cancelRequested: row.cancel_requested,
  };
}

type HeartbeatRow = {
  outcome: 'held' | 'lease_lost';
  lease_expires_at: Date;
  lease_remaining_ms: string;
  cancel_requested: boolean;
};
