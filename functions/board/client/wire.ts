/** The messages that the board reads, under the names that it uses. */
import type { CappedCount } from '../../../shared/capped-count.ts';
import type { Job, JobAttempt, JobEffect, JobSummary } from '../../../shared/queue/job.ts';
import type { LogChanges, LogEvent } from '../../../shared/queue/log-event.ts';
import type { AttemptSeries, Overview, QueueOverview } from '../../../shared/queue/overview.ts';
import type { PastBoard } from '../../../shared/queue/board-at.ts';
import type { QueueDocument } from '../../../shared/queue/queue-settings.ts';
import type { ScheduleSummary } from '../../../shared/queue/schedule.ts';
import type { OutboxEventSummary } from '../../../shared/outbox/outbox-event.ts';

export type {
  Job,
  JobAttempt,
  JobEffect,
  JobSummary,
  Overview,
  OutboxEventSummary as OutboxEvent,
  QueueDocument,
};
export { LOG_EVENT_TYPES } from '../../../shared/queue/log-event.ts';
export type BoardEvent = LogEvent;
export type Change = LogChanges;
export type Count = CappedCount;
export type QueueHealth = QueueOverview;
export type Series = AttemptSeries;
export type { PastBoard, ScheduleSummary };

export interface JobPage {
  readonly jobs: readonly JobSummary[];
  readonly next_cursor: string | null;
}

export interface OutboxMetrics {
  readonly oldest_unpublished_seconds: number | null;
  readonly pending: Count;
  readonly held: Count;
  readonly quarantined: Count;
  readonly last_minutes: {
    readonly published: number;
    readonly failures: number;
    readonly failure_rate: number;
    readonly per_second: number;
  };
}

/** Who is signed in, as `GET /board/session` says. */
export interface Session {
  readonly actor: string;
  readonly scopes: readonly string[];
  /** The only queues that the session is for; null: all. */
  readonly queues: readonly string[] | null;
  /** Instant at which it ends. */
  readonly expires_at: string;
}
