import type { Delivery } from './delivery.ts';

/** Settings of a queue, as the API and the database name them. */
export interface QueueSettings {
  /** 1 to 3,600; default 30. */
  readonly lease_seconds: number;
  /** 1 to 86,400: no heartbeat carries an attempt past it; default 900. */
  readonly max_run_seconds: number;
  /** 1 to 100, for jobs added from now on; default 5. */
  readonly max_attempts: number;
  /** 1 to 100 attempts for failures that nobody has classed, for jobs added from now on; default 3. */
  readonly max_unknown_attempts: number;
  /** 0 to 30 days; default 30,000: of a thousand jobs that fail together, no second sees more than 6 % again. */
  readonly backoff_base_ms: number;
  /** 0 to 30 days; default 3,600,000. */
  readonly backoff_cap_ms: number;
  /** 1 s to 366 days: no retry starts later than this after the first due time; default 7 days. */
  readonly retry_budget_seconds: number;
  /** 1 to 100: share in rotations; default 1. */
  readonly weight: number;
  /** 1 to 10,000 leases at one time, or null: no limit. */
  readonly concurrency_limit: number | null;
  /** 1 to 10,000 starts in any interval, or null: no limit. */
  readonly rate_limit: number | null;
  /** 100 ms to a day; default a minute. */
  readonly rate_interval_ms: number;
  /** 1 to 100 open jobs of one ordering key; 1, the default, is strict order. */
  readonly key_concurrency: number;
  /** 1 to 10,000 starts of one ordering key in any interval, or null: no limit. */
  readonly key_rate_limit: number | null;
  /** 100 ms to a day; default a minute. */
  readonly key_rate_interval_ms: number;
  /** What a dead job does to its ordering key; default `block`. */
  readonly on_dead: 'block' | 'continue';
  /** What becomes of a job that is out of attempts: it is `dead` (default), or a person is asked. */
  readonly on_exhausted: 'dead' | 'escalate';
  /** 1 to 100: the failure that ends the workers' tries in a queue that escalates; default 3. */
  readonly escalate_after: number;
  /** Default `handler`. */
  readonly delivery: Delivery;
  /** Where a queue with delivery `push` sends its jobs. */
  readonly target_url: string | null;
  /** 1 to 3,650 days that finished jobs are kept; default 30. */
  readonly retention_days: number;
}

/** A queue as the API shows it. */
export interface QueueDocument extends QueueSettings {
  readonly name: string;
  readonly paused: {
    readonly since: string;
    readonly by: string;
    readonly reason: string | null;
  } | null;
  /** Until then a target that failed too often rests; null when it does not. */
  readonly push_resume_at: string | null;
  readonly created_at: string;
}
