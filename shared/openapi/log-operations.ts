import { jobId } from '../schemas/job-id.ts';
import { boardAtQuery, jobHistoryQuery, logQuery, logStreamQuery } from '../schemas/log-query.ts';
import { JOB_ID } from './examples.ts';
import type { Operation } from './operation.ts';

const tag = 'Event log';

const EVENT = {
  id: 'j4711',
  cursor: '90210_j4711',
  job_id: JOB_ID,
  queue: 'emails',
  job_type: 'email.welcome',
  type: 'claimed',
  actor: 'worker/7',
  at: '2030-01-31T12:00:00.000Z',
  fencing_token: '1',
  details: { attempt: 1, lease_seconds: 60 },
};

export const LOG_OPERATIONS: readonly Operation[] = [
  {
    id: 'getJobHistory',
    method: 'get',
    path: '/v1/jobs/{id}/events',
    tag,
    summary: 'Read the history of a job',
    description: 'Its rows of the event log, oldest first.',
    access: 'read',
    database: true,
    params: { id: jobId },
    query: jobHistoryQuery,
    success: {
      200: {
        description: 'What happened to the job.',
        schema: 'JobHistory',
        example: { events: [EVENT], next_after: null },
      },
    },
    errors: ['not_found'],
  },
  {
    id: 'readEventLog',
    method: 'get',
    path: '/v1/events',
    tag,
    summary: 'Read the event log',
    description:
      'Of all jobs and queues, oldest first. Ask again with `next_cursor`: at once while `more` is true (a page may be short, or empty), later otherwise. No event is ever skipped: the log is read up to the oldest transaction that still runs. With `order=newest` the newest come first, those above that transaction included, whose `cursor` is null; `next_cursor` leads to older ones until it is null.',
    access: 'read',
    database: true,
    query: logQuery,
    success: {
      200: {
        description: 'Events, in the order that was asked for.',
        schema: 'LogEventPage',
        example: { events: [EVENT], next_cursor: EVENT.cursor, more: false },
      },
    },
  },
  {
    id: 'readPastBoard',
    method: 'get',
    path: '/v1/board',
    tag,
    summary: 'See the board at a past moment',
    description:
      'Jobs as they were then, newest first, from the event log. A page may be short and still have a `next_before`: go on until it is null. Counts and queues come with the first page.',
    access: 'read',
    database: true,
    query: boardAtQuery,
    success: { 200: { description: 'The board as it was.', schema: 'PastBoard' } },
  },
  {
    id: 'followEventLog',
    method: 'get',
    path: '/v1/events/stream',
    tag,
    summary: 'Follow the event log live',
    description:
      'Server-sent events: `change` (`events` as of `GET /v1/events`, and `jobs`: those that they are about, as rows of `GET /v1/jobs`), `overview` (the body of `GET /v1/overview`), `reset` (read everything anew) and `hand_over` (the stream ends; come back with `Last-Event-ID`). A stream that starts without `Last-Event-ID` or `cursor` starts now, and its first `change`, which is empty, says where. An event whose `cursor` is null comes again under the same `id`.',
    access: 'read',
    database: true,
    query: logStreamQuery,
    success: { 200: { description: 'The stream.', mediaType: 'text/event-stream' } },
    errors: ['feed_full'],
  },
];
