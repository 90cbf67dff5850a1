import type { Metrics, QueueMetrics, Quantiles, RecentMetrics } from '../queue/metrics.ts';
import type { MeasureName, Sample } from './measures.ts';

/** Transitions that are told of even where none happened, so that their lines have no holes. */
const ALWAYS_TOLD = ['created', 'claimed', 'completed', 'failed', 'lease_expired', 'dead'];
const WINDOW_MS = 5 * 60_000;
const STATES = [
  'due',
  'delayed',
  'parked',
  'running',
  'expired',
  'dead',
  'escalated',
] as const satisfies readonly (keyof QueueMetrics)[];

type Labels = Readonly<Record<string, string>>;

/**
 * The samples of what was read, as of now: ages grow while nothing is read, and jobs that were delayed become due. What was
 * read of the last minutes is forgotten once it lies further back, for then nothing has happened since.
 *
 * @example prometheusText(samplesOf(await readMetrics(sql), clock.now()))
 */
export function samplesOf(metrics: Metrics, nowMs: number): readonly Sample[] {
  const readMs = Date.parse(metrics.at);
  const isRecent = nowMs - readMs < WINDOW_MS;
  const windowSeconds = isRecent
    ? Math.max(1, (readMs - Date.parse(metrics.recent.from)) / 1000)
    : WINDOW_MS / 1000;
  return [
    ...metrics.queues.flatMap((queue) => ofQueue(queue, nowMs)),
    ...metrics.queues.flatMap(({ name }) =>
      ofRecent(name, isRecent ? metrics.recent.queues[name] : undefined, windowSeconds),
    ),
    ...(isRecent ? metrics.lost : []).map(({ queue, kind, count }) =>
      sample('leasehold_lost_reports', count, { queue, kind }),
    ),
    sample('leasehold_jobs_counted_up_to', metrics.counted_up_to),
    sample('leasehold_window_seconds', windowSeconds),
    sample('leasehold_queues_left_out', metrics.left_out),
    ...ofDatabase(metrics.database),
    sample(
      'leasehold_outbox_oldest_unpublished_age_seconds',
      age(metrics.outbox.oldest_unpublished_at, nowMs),
    ),
    sample(
      'leasehold_outbox_oldest_quarantined_age_seconds',
      age(metrics.outbox.oldest_quarantined_at, nowMs),
    ),
    ...(metrics.last_tick_at === null
      ? []
      : [sample('leasehold_last_tick_timestamp_seconds', Date.parse(metrics.last_tick_at) / 1000)]),
    sample('leasehold_read_timestamp_seconds', readMs / 1000),
    sample('leasehold_read_seconds', metrics.read_ms / 1000),
  ];
}

function ofQueue(queue: QueueMetrics, nowMs: number): Sample[] {
  const labels = { queue: queue.name };
  const one = (name: MeasureName, value: number, more: Labels = {}): Sample =>
    sample(name, value, { ...labels, ...more });
  const leased = queue.running + queue.expired;
  return [
    one('leasehold_oldest_due_age_seconds', age(queue.first_due_at, nowMs)),
    one('leasehold_oldest_expired_lease_age_seconds', age(queue.first_lease_end_at, nowMs)),
    one('leasehold_oldest_dead_age_seconds', age(queue.oldest_dead_at, nowMs)),
    one('leasehold_oldest_escalated_age_seconds', age(queue.oldest_escalated_at, nowMs)),
    ...STATES.map((state) => one('leasehold_jobs', queue[state], { state })),
    one('leasehold_leases_close_to_expiry', queue.close_to_expiry),
    one('leasehold_queue_paused', Number(queue.paused)),
    one('leasehold_queue_resting', Number(queue.resting)),
    ...(queue.concurrency_limit === null
      ? []
      : [one('leasehold_queue_saturation_ratio', leased / queue.concurrency_limit)]),
    one('leasehold_claim_query_seconds', queue.peek_ms / 1000),
  ];
}

function ofRecent(queue: string, recent: RecentMetrics | undefined, seconds: number): Sample[] {
  const told = Object.fromEntries(ALWAYS_TOLD.map((type) => [type, 0]));
  return [
    ...Object.entries({ ...told, ...recent?.transitions }).map(([type, count]) =>
      sample('leasehold_transitions_per_second', count / seconds, { queue, type }),
    ),
    ...ofQuantiles('leasehold_claim_latency_seconds', queue, recent?.claim_ms),
    ...ofQuantiles('leasehold_run_seconds', queue, recent?.run_ms),
    ...ofQuantiles('leasehold_completion_latency_seconds', queue, recent?.total_ms),
    ...(recent?.retries ?? []).map(({ code, attempt, count }) =>
      sample('leasehold_retries', count, {
        queue,
        code: code ?? 'other',
        attempt: attempt === null ? 'other' : String(attempt),
      }),
    ),
  ];
}

function ofQuantiles(
  name: MeasureName,
  queue: string,
  quantiles: Quantiles | null | undefined,
): Sample[] {
  if (!quantiles) return [];
  return [
    sample(name, quantiles.p50 / 1000, { queue, quantile: '0.5' }),
    sample(name, quantiles.p95 / 1000, { queue, quantile: '0.95' }),
    sample(name, quantiles.p99 / 1000, { queue, quantile: '0.99' }),
  ];
}

function ofDatabase(database: Metrics['database']): Sample[] {
  return [
    sample('leasehold_lock_waits', database.lock_waits),
    sample('leasehold_connections', database.connections),
    sample('leasehold_connections_limit', database.max_connections),
    sample('leasehold_state_rows', database.live_rows, { kind: 'live' }),
    sample('leasehold_state_rows', database.dead_rows, { kind: 'dead' }),
  ];
}

/** Seconds since an instant; 0 where there is none, or it is still to come. */
function age(instant: string | null, nowMs: number): number {
  return instant === null ? 0 : Math.max(0, (nowMs - Date.parse(instant)) / 1000);
}

function sample(name: MeasureName, value: number, labels: Labels = {}): Sample {
  return { name, labels, value };
}
