import { z } from 'zod';

import { LOG_EVENT_TYPES } from '../queue/log-event.ts';
import type { LogChanges, LogEvent } from '../queue/log-event.ts';
import { jobSummaryResponse } from './job-response.ts';
import { anyJson, bigIntText, instantText, openEnum, uuidText } from './response-parts.ts';

/** One row of the event log. */
export const logEventResponse: z.ZodType<LogEvent> = z.object({
  id: z.string(),
  cursor: z.string().nullable(),
  job_id: uuidText.nullable(),
  queue: z.string().nullable(),
  job_type: z.string().nullable(),
  type: openEnum(LOG_EVENT_TYPES),
  actor: z.string(),
  at: instantText,
  fencing_token: bigIntText.nullable(),
  details: anyJson,
});

/** Ask for what comes after with `next_cursor`, at once while `more` is true; null only while there is no event at all. */
export const logEventPageResponse = z.object({
  events: z.array(logEventResponse),
  next_cursor: z.string().nullable(),
  more: z.boolean(),
});

/** The events of one job; `next_after` is null when there is no more for now. */
export const jobHistoryResponse = z.object({
  events: z.array(logEventResponse),
  next_after: z.string().nullable(),
});

/** Data of the message `change` of the stream. */
export const logChangesResponse: z.ZodType<LogChanges> = z.object({
  events: z.array(logEventResponse),
  jobs: z.array(jobSummaryResponse),
});

export type LogEventPageResponse = z.infer<typeof logEventPageResponse>;
export type JobHistoryResponse = z.infer<typeof jobHistoryResponse>;
