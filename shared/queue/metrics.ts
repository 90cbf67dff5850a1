import type { Sql, SqlOptions } from '../ports.ts';
import type { Delivery } from './delivery.ts';

/** What there is to measure, as read at one instant; instants are ISO 8601. `shared/metrics/samples.ts` makes ages of them. */
export interface Metrics {
  readonly at: string;
  /** How long the reading took in the database. */
  readonly read_ms: number;
  /** Counts of jobs stop there; one more means that there are more. */
  readonly counted_up_to: number;
  readonly queues: readonly QueueMetrics[];
  /** How many more queues there are. */
  readonly left_out: number;
  /** The last five minutes, or less where more has happened than is read. */
  readonly recent: {
    readonly from: string;
    readonly queues: Readonly<Record<string, RecentMetrics>>;
  };
  /** Reports and heartbeats of the last five minutes whose lease had run out. */
  readonly lost: readonly {
    readonly queue: string;
    readonly kind: string;
    readonly count: number;
  }[];
  readonly database: {
    readonly connections: number;
    readonly max_connections: number;
    readonly lock_waits: number;
    readonly dead_rows: number;
    readonly live_rows: number;
  };
  readonly outbox: {
    readonly oldest_unpublished_at: string | null;
    readonly oldest_quarantined_at: string | null;
  };
  readonly last_tick_at: string | null;
}

export interface QueueMetrics {
  readonly name: string;
  readonly paused: boolean;
  readonly delivery: Delivery;
  /** Its push target failed too often. */
  readonly resting: boolean;
  readonly concurrency_limit: number | null;
  /** When the first pending job is due, or was. */
  readonly first_due_at: string | null;
  readonly first_lease_end_at: string | null;
  readonly oldest_dead_at: string | null;
  readonly oldest_escalated_at: string | null;
  readonly due: number;
  readonly delayed: number;
  readonly parked: number;
  readonly running: number;
  readonly close_to_expiry: number;
  readonly expired: number;
  readonly dead: number;
  readonly escalated: number;
  /** What a claim needs to find the heads of the lanes. */
  readonly peek_ms: number;
}

export interface RecentMetrics {
  /** How often each type of event happened. */
  readonly transitions: Readonly<Record<string, number>>;
  /** From due to claimed, from claimed to completed, from added to completed. */
  readonly claim_ms: Quantiles | null;
  readonly run_ms: Quantiles | null;
  readonly total_ms: Quantiles | null;
  /** Attempts that ended in another try; nulls: all rarer pairs together. */
  readonly retries: readonly {
    readonly code: string | null;
    readonly attempt: number | null;
    readonly count: number;
  }[];
}

export interface Quantiles {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/**
 * Every measure, from bounded reads in one call.
 *
 * @example const metrics = await readMetrics(sql);
 */
export async function readMetrics(sql: Sql, options?: SqlOptions): Promise<Metrics> {
  const [row] = await sql.query<{ metrics: Metrics }>(
    'select leasehold.metrics() as metrics',
    [],
    options,
  );
  if (row === undefined) throw new TypeError('leasehold.metrics gave no row');
  return row.metrics;
}
