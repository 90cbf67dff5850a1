import type { Sql, SqlOptions } from '../ports.ts';
import type { ShardLease } from './claim-events.ts';

export interface RenewShardInput {
  readonly lease: ShardLease;
  /** 1 to 3,600 from now. */
  readonly leaseSeconds: number;
}

/**
 * A relay that is still publishing extends the lease of its shard, or learns that it is lost and must stop.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field
 * @example if ((await renewShard(sql, { lease, leaseSeconds: 30 })) === 'lease_lost') stop.abort();
 */
export async function renewShard(
  sql: Sql,
  { lease, leaseSeconds }: RenewShardInput,
  options?: SqlOptions,
): Promise<'held' | 'lease_lost'> {
  const [row] = await sql.query<{ outcome: 'held' | 'lease_lost' }>(
    'select outcome from leasehold.renew_shard($1::smallint, $2::text, $3::bigint, $4::int)',
    [lease.shard, lease.owner, lease.fencingToken, leaseSeconds],
    options,
  );
  return row?.outcome ?? 'lease_lost';
}
