import type { JsonObject, JsonValue } from '../json-value.ts';
import type { FailureClass } from './failure-class.ts';
import type { Priority } from './new-job.ts';

export const JOB_STATES = [
  'pending',
  'running',
  'succeeded',
  'dead',
  'escalated',
  'cancelled',
] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A job in lists, as the API shows it: ids and 64-bit numbers are strings, instants are ISO 8601 in UTC. */
export interface JobSummary {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  readonly state: JobState;
  /** Why a pending job is not claimable now, or null. */
  readonly waiting_for: 'time' | 'ordering_key' | 'pause' | null;
  readonly priority: Priority;
  readonly due_at: string;
  readonly attempt: number;
  readonly max_attempts: number;
  /** How often it came back from the dead letters, or from a person, until it has ended. */
  readonly redrives: number | null;
  readonly schema_version: number;
  readonly ordering_key: string | null;
  readonly dedup_key: string | null;
  readonly tags: readonly string[];
  readonly created_at: string;
  readonly created_by: string;
  readonly cancel_requested: {
    readonly at: string;
    readonly by: string;
    readonly reason: string | null;
  } | null;
  readonly lease: {
    readonly owner: string;
    readonly fencing_token: string;
    readonly expires_at: string;
    readonly run_deadline_at: string;
    readonly progress: string | null;
  } | null;
  readonly finished_at: string | null;
  readonly finished_by: string | null;
  /** Why it was cancelled, when it was. */
  readonly reason: string | null;
  /** What a person wrote who sent it back; each holder gets it. */
  readonly note: string | null;
  readonly dead: SetAside | null;
  readonly escalated: Escalated | null;
}

/** Why a job waits beside the queue, and who looks after it. */
export interface SetAside {
  readonly reason: string;
  readonly error: JsonValue;
  readonly since: string;
  /** Who looks after it. */
  readonly owner: string | null;
  readonly note: string | null;
  readonly blocks_ordering_key: boolean;
}

/** A job in the human lane, and the person's hold on it, if there is one. */
export interface Escalated extends SetAside {
  readonly held_by: string | null;
  readonly held_since: string | null;
  readonly held_until: string | null;
  readonly fencing_token: string | null;
}

/** How attempts end; `sent_back` and `discarded` are a person's. */
export const ATTEMPT_OUTCOMES = [
  'succeeded',
  'failed',
  'lease_expired',
  'snoozed',
  'released',
  'escalated',
  'sent_back',
  'discarded',
] as const;
export const NEXT_STATES = ['succeeded', 'pending', 'dead', 'escalated', 'cancelled'] as const;

export interface JobAttempt {
  readonly fencing_token: string;
  readonly attempt: number;
  readonly owner: string;
  readonly started_at: string;
  readonly ended_at: string;
  readonly outcome: (typeof ATTEMPT_OUTCOMES)[number];
  /** What the job was after it. */
  readonly next_state: (typeof NEXT_STATES)[number];
  readonly retry_at: string | null;
  readonly failure_class: FailureClass | null;
  readonly error: JsonValue;
}

export interface JobEffect {
  readonly key: string;
  /** `uncertain`: an attempt began it, and nobody knows how it ended. */
  readonly state: 'started' | 'done' | 'not_done' | 'uncertain';
  readonly fencing_token: string;
  readonly started_at: string;
  readonly settled_at: string | null;
  readonly settled_by: string | null;
  readonly result: JsonValue;
}

/** Everything about one job. */
export interface Job extends JobSummary {
  readonly payload: JsonValue;
  readonly headers: JsonObject;
  readonly result: JsonValue;
  /** Why the result is not there although the job succeeded, or null. */
  readonly result_problem: string | null;
  /** Ended attempts, oldest first: the newest `MAX_SHOWN_ATTEMPTS` of them. */
  readonly attempts: readonly JobAttempt[];
  /** Path of the event log of the job, where it has had more attempts; else null. */
  readonly earlier_attempts: string | null;
  /** What its attempts did outside the database, oldest first. */
  readonly effects: readonly JobEffect[];
}
