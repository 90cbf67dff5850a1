import { jobId } from '../schemas/job-id.ts';
import { listJobsQuery } from '../schemas/list-jobs-query.ts';
import { waitQuery } from '../schemas/wait-query.ts';
import { ENQUEUE, ENQUEUED, JOB, JOB_ID, JOB_SUMMARY } from './examples.ts';
import type { Operation } from './operation.ts';

const tag = 'Jobs';
const params = { id: jobId };

export const JOB_OPERATIONS: readonly Operation[] = [
  {
    id: 'enqueueJob',
    method: 'post',
    path: '/v1/jobs',
    tag,
    summary: 'Add a job',
    description:
      'Send an `id` of your own: after a lost answer the repeat is the same job. With a `dedup_key` that a live job has, the answer is that job.',
    access: 'enqueue',
    database: true,
    body: { schema: 'EnqueueRequest', example: ENQUEUE },
    success: {
      201: {
        description: 'The job is new.',
        schema: 'EnqueuedJob',
        example: ENQUEUED,
        location: true,
      },
      200: {
        description: 'This very job was there already, or a live job has its dedup key.',
        schema: 'EnqueuedJob',
        example: { ...ENQUEUED, outcome: 'duplicate' },
        location: true,
      },
    },
    errors: ['job_id_conflict'],
  },
  {
    id: 'enqueueJobs',
    method: 'post',
    path: '/v1/jobs/batch',
    tag,
    summary: 'Add many jobs',
    description: 'All are stored or none; faults are named `jobs[i].field`.',
    access: 'enqueue',
    database: true,
    body: { schema: 'EnqueueBatchRequest', example: { jobs: [ENQUEUE] } },
    success: {
      201: {
        description: 'At least one job is new; in the order of the request.',
        schema: 'EnqueuedJobs',
        example: { jobs: [{ ...ENQUEUED, outcome: 'created' }] },
      },
      200: {
        description: 'All were there already.',
        schema: 'EnqueuedJobs',
        example: { jobs: [{ ...ENQUEUED, outcome: 'exists' }] },
      },
    },
    errors: ['job_id_conflict'],
  },
  {
    id: 'listJobs',
    method: 'get',
    path: '/v1/jobs',
    tag,
    summary: 'Find jobs',
    description:
      'Newest first, without payloads and results. A page may be short and still have a cursor: go on until it is null.',
    access: 'read',
    database: true,
    query: listJobsQuery,
    success: {
      200: {
        description: 'A page of jobs.',
        schema: 'JobPage',
        example: { jobs: [JOB_SUMMARY], next_cursor: null },
      },
    },
  },
  {
    id: 'getJob',
    method: 'get',
    path: '/v1/jobs/{id}',
    tag,
    summary: 'Read a job',
    description:
      'Everything about one job. With `wait`, the answer comes as soon as the job has ended, or as it is when the time is up.',
    access: 'read',
    database: true,
    params,
    query: waitQuery,
    success: { 200: { description: 'The job.', schema: 'Job', example: JOB } },
    errors: ['not_found'],
  },
  {
    id: 'editJob',
    method: 'patch',
    path: '/v1/jobs/{id}',
    tag,
    summary: 'Change a pending job',
    description: 'Its due time or its priority. A job that runs or has ended is refused.',
    access: 'operate',
    database: true,
    params,
    body: { schema: 'EditJobRequest', example: { priority: 'high' } },
    success: {
      200: {
        description: 'The job as it is now.',
        schema: 'Job',
        example: { ...JOB, priority: 'high' },
      },
    },
    errors: ['not_found', 'job_not_pending'],
  },
  {
    id: 'cancelJob',
    method: 'post',
    path: '/v1/jobs/{id}/cancel',
    tag,
    summary: 'Call a job off',
    description:
      'A pending job ends at once. A running one ends when its attempt hears of it, at the next heartbeat or report.',
    access: 'operate',
    database: true,
    params,
    body: { schema: 'CancelRequest', optional: true, example: { reason: 'ordered twice' } },
    success: {
      200: {
        description: 'The job has ended as cancelled.',
        schema: 'CancelOutcome',
        example: { id: JOB_ID, outcome: 'cancelled' },
      },
      202: {
        description: 'An attempt runs and will hear of it.',
        schema: 'CancelOutcome',
        example: { id: JOB_ID, outcome: 'cancel_requested' },
      },
    },
    errors: ['not_found', 'job_ended'],
  },
];
