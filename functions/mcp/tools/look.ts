import { z } from 'zod';

import { MAX_PAGE_SIZE, MAX_TAG_CHARS } from '../../../shared/limits.ts';
import { JOB_STATES } from '../../../shared/queue/job.ts';
import { instant } from '../../../shared/schemas/instant.ts';
import { integer } from '../../../shared/schemas/integer.ts';
import { jobId } from '../../../shared/schemas/job-id.ts';
import { queueName, typeName } from '../../../shared/schemas/names.ts';
import { keyText } from '../../../shared/schemas/text.ts';
import { tool } from '../tool.ts';

const LOOKS = { readOnlyHint: true, openWorldHint: false };

/** Few enough to be read by a model. */
const DEFAULT_LISTED = 20;

const limit = integer(1, MAX_PAGE_SIZE).default(DEFAULT_LISTED).describe('At most this many.');
const cursor = z.string().optional().describe('`next_cursor` of the page before.');

export const listQueues = tool({
  name: 'list_queues',
  title: 'List queues',
  description:
    'The queues that your token is for, by name, with their settings: whether one is paused, how long a lease lasts ' +
    '(`lease_seconds`), how often a job is tried. Use a name from here in `claim` and `enqueue`. ' +
    'Answers `{queues, next_cursor}`; `next_cursor` is null on the last page.',
  scope: 'read',
  hints: LOOKS,
  input: z.strictObject({ limit, cursor }),
  request: (query) => ({ method: 'GET', path: '/v1/queues', query }),
});

export const listJobs = tool({
  name: 'list_jobs',
  title: 'List jobs',
  description:
    'Jobs, newest first, without payloads: what waits, what runs and who has it (`lease.owner`, `lease.progress`), what ' +
    'ended and why. Looking takes nothing: to work on a job, `claim` it. ' +
    'Answers `{jobs, next_cursor}`. A page may be short and still have a `next_cursor`: only null means the end.',
  scope: 'read',
  hints: LOOKS,
  input: z.strictObject({
    queue: queueName
      .optional()
      .describe('Of this queue alone; required when your token is for several queues.'),
    state: z.enum(JOB_STATES).optional().describe('In this state alone.'),
    type: typeName.optional().describe('Of this type alone.'),
    tag: keyText(MAX_TAG_CHARS).optional().describe('With this tag alone.'),
    from: instant.optional().describe('Made at this instant or later.'),
    until: instant.optional().describe('Made before this instant.'),
    limit,
    cursor,
  }),
  request: (query) => ({ method: 'GET', path: '/v1/jobs', query }),
});

export const getJob = tool({
  name: 'get_job',
  title: 'Look at one job',
  description:
    'Everything about one job: payload, state, who holds it, progress, the newest ended attempts with their errors, result. ' +
    'Looking takes nothing: only the holder of a lease may work on a job.',
  scope: 'read',
  hints: LOOKS,
  input: z.strictObject({ job_id: jobId.describe('`id` of the job.') }),
  request: ({ job_id }) => ({ method: 'GET', path: `/v1/jobs/${job_id}` }),
});

export const getJobHistory = tool({
  name: 'get_job_history',
  title: 'Read the history of a job',
  description:
    'The event log of one job, oldest first: what happened, when, by whom (`actor`), under which fencing token: claims, ' +
    'progress, failures, escalations, notes. Answers `{events, next_after}`; `next_after` is null when that was all.',
  scope: 'read',
  hints: LOOKS,
  input: z.strictObject({
    job_id: jobId.describe('`id` of the job.'),
    limit,
    after: z.string().optional().describe('`next_after` of the page before.'),
  }),
  request: ({ job_id, ...query }) => ({
    method: 'GET',
    path: `/v1/jobs/${job_id}/events`,
    query,
  }),
});

export const LOOK_TOOLS = [listQueues, listJobs, getJob, getJobHistory];
