import type { JsonObject, JsonValue } from '../json-value.ts';
import type { Priority } from './new-job.ts';

export const JOB_STATES = ['pending', 'running', 'succeeded', 'dead'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A job in lists, as the API shows it: ids and 64-bit numbers are strings, instants are ISO 8601 in UTC. */
export interface JobSummary {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  readonly state: JobState;
  /** Why a pending job is not claimable now, or null. */
  readonly waiting_for: 'time' | null;
  readonly priority: Priority;
  readonly due_at: string;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly schema_version: number;
  readonly created_at: string;
  readonly created_by: string;
  readonly lease: {
    readonly owner: string;
    readonly fencing_token: string;
    readonly expires_at: string;
    readonly run_deadline_at: string;
    readonly progress: string | null;
  } | null;
  readonly finished_at: string | null;
  readonly finished_by: string | null;
  readonly dead: {
    readonly reason: string;
    readonly error: JsonValue;
    readonly since: string;
  } | null;
}

export interface JobAttempt {
  readonly fencing_token: string;
  readonly attempt: number;
  readonly owner: string;
  readonly started_at: string;
  readonly ended_at: string;
  readonly outcome: 'succeeded' | 'failed' | 'lease_expired';
  readonly next_state: 'succeeded' | 'pending' | 'dead';
  readonly retry_at: string | null;
  readonly error: JsonValue;
}

/** Everything about one job. */
export interface Job extends JobSummary {
  readonly payload: JsonValue;
  readonly headers: JsonObject;
  readonly result: JsonValue;
  /** Why the result is not there although the job succeeded, or null. */
  readonly result_problem: string | null;
  /** Ended attempts, oldest first. */
  readonly attempts: readonly JobAttempt[];
}
