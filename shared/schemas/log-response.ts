import { z } from 'zod';

import type { PastBoard } from '../queue/board-at.ts';
import { JOB_STATES } from '../queue/job.ts';
import { LOG_EVENT_TYPES } from '../queue/log-event.ts';
import type { LogChanges, LogEvent } from '../queue/log-event.ts';
import { jobSummaryResponse } from './job-response.ts';
import { anyJson, bigIntText, count, instantText, openEnum, uuidText } from './response-parts.ts';

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

/**
 * Ask on with `next_cursor`, at once while `more` is true. Oldest first it is null only while there is no event at all; newest
 * first when nothing is older.
 */
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

/** The board at a past moment; `counts`, `capped` and `queues` come with the first page alone. */
export const pastBoardResponse: z.ZodType<PastBoard> = z.object({
  at: instantText,
  jobs: z.array(
    z.object({
      id: uuidText,
      queue: z.string(),
      type: z.string(),
      state: openEnum(JOB_STATES),
      since: instantText,
      event: openEnum(LOG_EVENT_TYPES),
      reason: z.string().nullable(),
      attempt: count,
      fencing_token: bigIntText.nullable(),
      owner: z.string().nullable(),
      progress: z.string().nullable(),
      ordering_key: z.string().nullable(),
      tags: z.array(z.string()),
      created_at: instantText,
      created_by: z.string(),
    }),
  ),
  next_before: uuidText.nullable(),
  counts: z.partialRecord(z.enum(JOB_STATES), count).nullable(),
  capped: z.boolean().nullable(),
  queues: z
    .array(
      z.object({
        name: z.string(),
        paused: z
          .object({ since: instantText, by: z.string(), reason: z.string().nullable() })
          .nullable(),
      }),
    )
    .nullable(),
});
