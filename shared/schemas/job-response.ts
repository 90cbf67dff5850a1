import { z } from 'zod';

import { FAILURE_CLASSES } from '../queue/failure-class.ts';
import { ATTEMPT_OUTCOMES, JOB_STATES, NEXT_STATES } from '../queue/job.ts';
import type { Job, JobAttempt, JobEffect, JobSummary } from '../queue/job.ts';
import { PRIORITIES } from '../queue/new-job.ts';
import {
  anyJson,
  anyObject,
  bigIntText,
  count,
  instantText,
  nextCursor,
  openEnum,
  uuidText,
} from './response-parts.ts';

const setAsideFields = {
  reason: z.string(),
  error: anyJson,
  since: instantText,
  owner: z.string().nullable(),
  note: z.string().nullable(),
  blocks_ordering_key: z.boolean(),
};

const summaryFields = {
  id: uuidText,
  queue: z.string(),
  type: z.string(),
  state: openEnum(JOB_STATES),
  waiting_for: openEnum(['time', 'ordering_key', 'pause']).nullable(),
  priority: z.enum(PRIORITIES),
  due_at: instantText,
  attempt: count,
  max_attempts: count,
  redrives: count.nullable(),
  schema_version: count,
  ordering_key: z.string().nullable(),
  dedup_key: z.string().nullable(),
  tags: z.array(z.string()),
  created_at: instantText,
  created_by: z.string(),
  cancel_requested: z
    .object({ at: instantText, by: z.string(), reason: z.string().nullable() })
    .nullable(),
  lease: z
    .object({
      owner: z.string(),
      fencing_token: bigIntText,
      expires_at: instantText,
      run_deadline_at: instantText,
      progress: z.string().nullable(),
    })
    .nullable(),
  finished_at: instantText.nullable(),
  finished_by: z.string().nullable(),
  reason: z.string().nullable(),
  note: z.string().nullable(),
  dead: z.object(setAsideFields).nullable(),
  escalated: z
    .object({
      ...setAsideFields,
      held_by: z.string().nullable(),
      held_since: instantText.nullable(),
      held_until: instantText.nullable(),
      fencing_token: bigIntText.nullable(),
    })
    .nullable(),
};

/** A job in lists, without payload and result. */
export const jobSummaryResponse: z.ZodType<JobSummary> = z.object(summaryFields);

export const jobAttemptResponse: z.ZodType<JobAttempt> = z.object({
  fencing_token: bigIntText,
  attempt: count,
  owner: z.string(),
  started_at: instantText,
  ended_at: instantText,
  outcome: openEnum(ATTEMPT_OUTCOMES),
  next_state: openEnum(NEXT_STATES),
  retry_at: instantText.nullable(),
  failure_class: z.enum(FAILURE_CLASSES).nullable(),
  error: anyJson,
});

export const jobEffectResponse: z.ZodType<JobEffect> = z.object({
  key: z.string(),
  state: z.enum(['started', 'done', 'not_done', 'uncertain']),
  fencing_token: bigIntText,
  started_at: instantText,
  settled_at: instantText.nullable(),
  settled_by: z.string().nullable(),
  result: anyJson,
});

/** Everything about one job. */
export const jobResponse: z.ZodType<Job> = z.object({
  ...summaryFields,
  payload: anyJson,
  headers: anyObject,
  result: anyJson,
  result_problem: z.string().nullable(),
  attempts: z.array(jobAttemptResponse),
  earlier_attempts: z.string().nullable(),
  effects: z.array(jobEffectResponse),
});

export const jobPageResponse = z.object({
  jobs: z.array(jobSummaryResponse),
  next_cursor: nextCursor,
});

export type JobPageResponse = z.infer<typeof jobPageResponse>;
