import type { CappedCount } from '../capped-count.ts';
import type { Sql, SqlOptions } from '../ports.ts';

/** How the outbox and its consumers fare; in the words of the API. Instants are ISO 8601; counts stop at 10,000. */
export interface OutboxMetrics {
  /** Of what waits, held and quarantined events among it; null: nothing waits. */
  readonly oldest_unpublished_seconds: number | null;
  readonly pending: CappedCount;
  /** What was set aside because it failed, or behind what did. */
  readonly held: CappedCount;
  readonly quarantined: CappedCount;
  /** The last five minutes. */
  readonly last_minutes: {
    readonly published: number;
    readonly tries: number;
    readonly failures: number;
    /** 0 to 1. */
    readonly failure_rate: number;
    readonly per_second: number;
  };
  /** The newest batch of each shard that published in the last five minutes. */
  readonly batches: {
    readonly newest_at: string | null;
    readonly mean_ms: number | null;
    readonly longest_ms: number | null;
    readonly mean_events: number | null;
  };
  /** The last hour. */
  readonly consumers: readonly {
    readonly consumer: string;
    readonly accepted: number;
    readonly duplicates: number;
    readonly last_at: string | null;
    /** From the append to the consumer's commit; null where the outbox is another database's. */
    readonly mean_lag_ms: number | null;
    readonly longest_lag_ms: number | null;
    readonly parked: number;
  }[];
  /** With indexes; rows as the statistics have it. */
  readonly tables: readonly {
    readonly table: string;
    readonly bytes: number;
    readonly rows: number;
  }[];
  readonly retention: {
    readonly oldest_event_at: string | null;
    /** Events that were done before this have lost their payload. */
    readonly payloads_dropped_until: string | null;
  };
}

/**
 * Numbers to watch, from bounded reads: they cost the same with a thousand and with millions of events.
 *
 * @example const { oldest_unpublished_seconds } = await outboxMetrics(sql);
 */
export async function outboxMetrics(sql: Sql, options?: SqlOptions): Promise<OutboxMetrics> {
  const [row] = await sql.query<{ metrics: OutboxMetrics }>(
    'select leasehold.outbox_metrics() as metrics',
    [],
    options,
  );
  if (row === undefined) throw new TypeError('leasehold.outbox_metrics gave no row');
  return row.metrics;
}
