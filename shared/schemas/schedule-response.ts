import { z } from 'zod';

import { PRIORITIES } from '../queue/new-job.ts';
import { MISSED_POLICIES, OVERLAP_POLICIES } from '../queue/schedule.ts';
import type { ScheduleSummary } from '../queue/schedule.ts';
import { anyJson, count, instantText, nextCursor, openEnum, uuidText } from './response-parts.ts';

const summaryFields = {
  name: z.string(),
  cron: z.string(),
  zone: z.string(),
  queue: z.string(),
  type: z.string(),
  priority: z.enum(PRIORITIES),
  max_attempts: count.nullable(),
  missed: openEnum(MISSED_POLICIES),
  missed_limit: count,
  overlap: openEnum(OVERLAP_POLICIES),
  paused: z.boolean(),
  next_slot_at: instantText.nullable(),
  decided_until: instantText,
  last_job_id: uuidText.nullable(),
  created_at: instantText,
  created_by: z.string(),
  updated_at: instantText,
};

/** As a list shows it: without its payload, which may be large. */
export const scheduleSummaryResponse: z.ZodType<ScheduleSummary> = z.object(summaryFields);

/** A schedule and the slots that it fires next. */
export const scheduleResponse = z.object({
  ...summaryFields,
  payload: anyJson,
  next_slots: z.array(instantText),
});

export const schedulePageResponse = z.object({
  schedules: z.array(scheduleSummaryResponse),
  next_cursor: nextCursor,
});

export type ScheduleResponse = z.infer<typeof scheduleResponse>;
export type SchedulePageResponse = z.infer<typeof schedulePageResponse>;
