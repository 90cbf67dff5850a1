import type { Metrics, QueueMetrics } from '../../../shared/queue/metrics.ts';

export const READ_AT = Date.UTC(2030, 0, 1);

/** An instant as many seconds before the reading. */
export const secondsBefore = (seconds: number): string =>
  new Date(READ_AT - seconds * 1000).toISOString();

export function someQueue(overrides: Partial<QueueMetrics> = {}): QueueMetrics {
  return {
    name: 'emails',
    paused: false,
    delivery: 'handler',
    resting: false,
    concurrency_limit: null,
    first_due_at: null,
    first_lease_end_at: null,
    oldest_dead_at: null,
    oldest_escalated_at: null,
    due: 0,
    delayed: 0,
    parked: 0,
    running: 0,
    close_to_expiry: 0,
    expired: 0,
    dead: 0,
    escalated: 0,
    peek_ms: 0.2,
    ...overrides,
  };
}

/** What a reading of a quiet deployment gives, at `READ_AT`. */
export function someMetrics(overrides: Partial<Metrics> = {}): Metrics {
  return {
    at: secondsBefore(0),
    read_ms: 4,
    counted_up_to: 1000,
    queues: [someQueue()],
    left_out: 0,
    recent: { from: secondsBefore(300), queues: {} },
    lost: [],
    database: { connections: 3, max_connections: 100, lock_waits: 0, dead_rows: 0, live_rows: 0 },
    outbox: { oldest_unpublished_at: null, oldest_quarantined_at: null },
    last_tick_at: null,
    ...overrides,
  };
}
