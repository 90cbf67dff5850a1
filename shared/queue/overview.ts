import type { CappedCount } from '../capped-count.ts';
import type { Sql, SqlOptions } from '../ports.ts';
import type { Delivery } from './delivery.ts';

/** How the queues fare, in the words of the API. Instants are ISO 8601; ages are for whoever shows them to work out. */
export interface Overview {
  readonly at: string;
  /** The one that waits longest first. */
  readonly queues: readonly QueueOverview[];
  /** How many more queues there are. */
  readonly left_out: number;
}

export interface QueueOverview {
  readonly name: string;
  readonly paused: {
    readonly since: string;
    readonly by: string;
    readonly reason: string | null;
  } | null;
  readonly delivery: Delivery;
  /** Its push target failed too often: nothing is sent until then. */
  readonly resting_until: string | null;
  readonly concurrency_limit: number | null;
  /** Pending, and claimable now. */
  readonly due: CappedCount;
  readonly delayed: CappedCount;
  /** Behind their ordering key. */
  readonly parked: CappedCount;
  readonly running: CappedCount;
  /** Of the running ones: less than a third of the lease is left, so its holder has missed heartbeats. */
  readonly leases_close_to_expiry: CappedCount;
  /** Leases that ran out; the next claim takes their jobs. */
  readonly expired: CappedCount;
  readonly dead: CappedCount;
  readonly escalated: CappedCount;
  readonly oldest_due_at: string | null;
  readonly next_due_at: string | null;
  readonly oldest_expired_at: string | null;
  readonly oldest_dead_at: string | null;
  readonly oldest_escalated_at: string | null;
  readonly series: AttemptSeries;
}

/** Attempts that ended in each step: the last hour, or less where more has happened than is read. */
export interface AttemptSeries {
  readonly from: string;
  readonly step_seconds: number;
  readonly succeeded: readonly number[];
  /** Reported as failed, and leases that ran out. */
  readonly failed: readonly number[];
}

/**
 * How the queues fare, from bounded reads: it costs the same with a thousand and with millions of jobs.
 *
 * @param input.queues only these, for a caller who may not learn of others
 * @param input.limit 1 to 200 queues (default 200)
 * @example const { queues } = await readOverview(sql);
 */
export async function readOverview(
  sql: Sql,
  input: { readonly queues?: readonly string[]; readonly limit?: number } = {},
  options?: SqlOptions,
): Promise<Overview> {
  const [row] = await sql.query<{ overview: Overview }>(
    'select leasehold.overview($1::jsonb, $2::int) as overview',
    [input.queues === undefined ? null : JSON.stringify(input.queues), input.limit ?? 200],
    options,
  );
  if (row === undefined) throw new TypeError('leasehold.overview gave no row');
  return row.overview;
}
