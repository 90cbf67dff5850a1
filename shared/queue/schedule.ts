import type { JsonValue } from '../json-value.ts';
import type { Priority } from './new-job.ts';

/** Slots missed while nothing ticked: none of them, the latest, or every one up to a limit. */
export const MISSED_POLICIES = ['skip', 'latest', 'all'] as const;
export type MissedPolicy = (typeof MISSED_POLICIES)[number];

/** Whether a slot fires while the job of the slot before is unfinished. */
export const OVERLAP_POLICIES = ['allow', 'skip'] as const;
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

export interface ScheduleSettings {
  /** 1 to 128 characters. */
  readonly name: string;
  /** Five fields. */
  readonly cron: string;
  /** IANA time zone. */
  readonly zone: string;
  readonly queue: string;
  readonly type: string;
  readonly payload: JsonValue;
  readonly priority: Priority;
  /** 1 to 100, or null: the queue's. */
  readonly max_attempts: number | null;
  readonly missed: MissedPolicy;
  /** 1 to 100. */
  readonly missed_limit: number;
  readonly overlap: OverlapPolicy;
}

/** A schedule as the API shows it. */
export interface Schedule extends ScheduleSettings {
  readonly paused: boolean;
  readonly next_slot_at: string | null;
  /** Slots up to here are decided. */
  readonly decided_until: string;
  readonly last_job_id: string | null;
  readonly created_at: string;
  readonly created_by: string;
  readonly updated_at: string;
}

/** As lists and ticks read it: payloads may be large, and neither has a use for them. */
export type ScheduleSummary = Omit<Schedule, 'payload'>;
