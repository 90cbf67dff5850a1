/** What a measure means and how its samples are told apart. All are gauges: they are read, never counted up in a process. */
export interface Measure {
  readonly help: string;
  readonly labels: readonly string[];
}

const queue = ['queue'] as const;

/** Every measure of `GET /metrics`, by its name. */
export const MEASURES = {
  leasehold_oldest_due_age_seconds: {
    help: 'How long the first claimable job of the queue has been due.',
    labels: queue,
  },
  leasehold_oldest_expired_lease_age_seconds: {
    help: 'How long the first lease that ran out waits to be taken over.',
    labels: queue,
  },
  leasehold_oldest_dead_age_seconds: {
    help: 'How long the first dead job has waited for somebody to settle it.',
    labels: queue,
  },
  leasehold_oldest_escalated_age_seconds: {
    help: 'How long the first escalated job has waited for a person.',
    labels: queue,
  },
  leasehold_jobs: {
    help: 'Jobs by state; counts stop one above leasehold_jobs_counted_up_to.',
    labels: ['queue', 'state'],
  },
  leasehold_jobs_counted_up_to: { help: 'Where counts of jobs stop.', labels: [] },
  leasehold_leases_close_to_expiry: {
    help: 'Running jobs with less than a third of their lease left: heartbeats are missing.',
    labels: queue,
  },
  leasehold_queue_paused: { help: '1 while the queue is paused.', labels: queue },
  leasehold_queue_resting: {
    help: '1 while the queue rests because its push target fails.',
    labels: queue,
  },
  leasehold_queue_saturation_ratio: {
    help: 'Running jobs over the concurrency limit, where the queue has one.',
    labels: queue,
  },
  leasehold_transitions_per_second: {
    help: 'Transitions of jobs by type, the mean of the window.',
    labels: ['queue', 'type'],
  },
  leasehold_claim_latency_seconds: {
    help: 'From due to claimed, over the window.',
    labels: ['queue', 'quantile'],
  },
  leasehold_run_seconds: {
    help: 'From claimed to completed, over the window.',
    labels: ['queue', 'quantile'],
  },
  leasehold_completion_latency_seconds: {
    help: 'From added to completed, over the window.',
    labels: ['queue', 'quantile'],
  },
  leasehold_retries: {
    help: 'Attempts of the window that ended in another try, by error code and attempt.',
    labels: ['queue', 'code', 'attempt'],
  },
  leasehold_lost_reports: {
    help: 'Reports and heartbeats of the window that came after their lease had run out.',
    labels: ['queue', 'kind'],
  },
  leasehold_claim_query_seconds: {
    help: 'What a claim needs to find the heads of the lanes.',
    labels: queue,
  },
  leasehold_window_seconds: {
    help: 'How much time the rates, latencies, retries and lost reports tell of.',
    labels: [],
  },
  leasehold_queues_left_out: { help: 'Queues beyond the thousand that are told of.', labels: [] },
  leasehold_lock_waits: { help: 'Lock requests of the server that wait.', labels: [] },
  leasehold_connections: { help: 'Connections of the server.', labels: [] },
  leasehold_connections_limit: { help: 'How many connections the server takes.', labels: [] },
  leasehold_state_rows: {
    help: 'Rows of the table that claims read, as its statistics have them; dead ones wait for vacuum.',
    labels: ['kind'],
  },
  leasehold_outbox_oldest_unpublished_age_seconds: {
    help: 'How long the first event of the outbox has waited to be published.',
    labels: [],
  },
  leasehold_outbox_oldest_quarantined_age_seconds: {
    help: 'How long the first quarantined event has waited for somebody to settle it.',
    labels: [],
  },
  leasehold_last_tick_timestamp_seconds: {
    help: 'When a scheduled tick last did all its work; noted every five minutes at most.',
    labels: [],
  },
  leasehold_read_timestamp_seconds: {
    help: 'When the database was read for these measures. Ages are worked out when they are asked for.',
    labels: [],
  },
  leasehold_read_seconds: { help: 'How long that reading took.', labels: [] },
} as const satisfies Readonly<Record<string, Measure>>;

export type MeasureName = keyof typeof MEASURES;

/** One number of a measure. */
export interface Sample {
  readonly name: MeasureName;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
