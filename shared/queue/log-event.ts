import type { JsonValue } from '../json-value.ts';
import type { JobSummary } from './job.ts';

/** What the log of jobs and queues tells, as far as this version knows; more may come. */
export const LOG_EVENT_TYPES = [
  'created',
  'claimed',
  'heartbeat',
  'progressed',
  'completed',
  'failed',
  'lease_expired',
  'dead',
  'escalated',
  'snoozed',
  'released',
  'cancel_requested',
  'cancelled',
  'edited',
  'unparked',
  'redriven',
  'discarded',
  'noted',
  'effect_started',
  'effect_done',
  'effect_uncertain',
  'effect_settled',
  'configured',
  'paused',
  'resumed',
  'push_rested',
] as const;
export type LogEventType = (typeof LOG_EVENT_TYPES)[number];

/** Which events a page of the log begins with. */
export const LOG_ORDERS = ['oldest', 'newest'] as const;
export type LogOrder = (typeof LOG_ORDERS)[number];

/** What a page of the log holds. */
export interface LogFilter {
  readonly queue?: string;
  /** Events of these queues alone. */
  readonly queues?: readonly string[];
  readonly actor?: string;
  readonly type?: LogEventType;
}

/** One row of the event log, as the API shows it. */
export interface LogEvent {
  /** Unique in the deployment: `j…` is about a job, `q…` about a queue. */
  readonly id: string;
  /**
   * Ask for what comes after it. Null while a transaction that began earlier is still running: the event comes again under
   * the same id, with its cursor, once that has ended.
   */
  readonly cursor: string | null;
  /** Null: about a queue. */
  readonly job_id: string | null;
  /** Null: retention has taken the job. */
  readonly queue: string | null;
  readonly job_type: string | null;
  readonly type: LogEventType;
  /** Who did it, by their credential. */
  readonly actor: string;
  readonly at: string;
  readonly fencing_token: string | null;
  readonly details: JsonValue;
}

/** A message of the live feed: events, and the jobs that they are about as they are now, read in one snapshot. */
export interface LogChanges {
  readonly events: readonly LogEvent[];
  readonly jobs: readonly JobSummary[];
}
