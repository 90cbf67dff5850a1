import type { z } from 'zod';

import { queueAttributes } from '../job-span.ts';
import type { Ids } from '../ports.ts';
import type { Job } from '../queue/job.ts';
import { cancelResponse } from '../schemas/cancel-response.ts';
import type { editJobRequest } from '../schemas/edit-job-request.ts';
import type { enqueueRequest } from '../schemas/enqueue-request.ts';
import { enqueuedBatchResponse, enqueuedResponse } from '../schemas/enqueued-response.ts';
import type { EnqueuedBatchResponse, EnqueuedResponse } from '../schemas/enqueued-response.ts';
import { jobPageResponse, jobResponse } from '../schemas/job-response.ts';
import type { JobPageResponse } from '../schemas/job-response.ts';
import type { ListJobsQuery } from '../schemas/list-jobs-query.ts';
import { NO_TRACER } from '../tracer.ts';
import type { Tracer } from '../tracer.ts';
import type { TraceContext } from '../trace-context.ts';
import { LeaseholdApiError } from './api-error.ts';
import { orOn } from './outcomes.ts';
import type { CallOptions, Transport } from './transport.ts';

/** As `POST /v1/jobs` takes it. */
export type NewJobInput = z.input<typeof enqueueRequest>;
export type JobEdit = z.input<typeof editJobRequest>;
export type JobQuery = Partial<ListJobsQuery>;

/** `duplicate`: a live job has the dedup key, and this is that job. */
export type Enqueued = Omit<EnqueuedResponse, 'outcome'> & {
  readonly outcome: 'created' | 'exists' | 'duplicate';
};

export type CancelOutcome =
  /** `cancel_requested`: an attempt runs and hears of it. */
  | { readonly outcome: 'cancelled' | 'cancel_requested' }
  | { readonly outcome: 'already_ended' | 'not_found' };

export interface JobCalls {
  /** Adds a job. Without an `id` it gets one here, so that a repeat is the same job. */
  enqueue(job: NewJobInput, options?: CallOptions): Promise<Enqueued>;
  /** Adds 1 to 1,000 jobs, all or none; answers in their order. */
  enqueueBatch(
    jobs: readonly NewJobInput[],
    options?: CallOptions,
  ): Promise<EnqueuedBatchResponse['jobs']>;
  /** A job, or undefined; with `wait` (0 to 20 s) as soon as it has ended, or as it is when the time is up. */
  getJob(id: string, options?: CallOptions & { readonly wait?: number }): Promise<Job | undefined>;
  /** Newest first. A page may be short and still have a cursor: go on until it is null. */
  listJobs(query?: JobQuery, options?: CallOptions): Promise<JobPageResponse>;
  /** Calls a job off. */
  cancel(id: string, options?: CallOptions & { readonly reason?: string }): Promise<CancelOutcome>;
  /** Changes a pending job. */
  edit(
    id: string,
    edit: JobEdit,
    options?: CallOptions,
  ): Promise<Job | { readonly outcome: 'not_pending' | 'not_found' }>;
}

export function jobCalls(transport: Transport, ids: Ids, tracer: Tracer = NO_TRACER): JobCalls {
  return {
    enqueue: async (job, options) => {
      const { status, value } = await traced(tracer, [job.queue], (trace) =>
        transport({
          method: 'POST',
          path: '/v1/jobs',
          body: { id: ids.uuidv7(), ...job },
          keyed: true,
          answer: enqueuedResponse,
          trace,
          ...options,
        }),
      );
      return { ...value, outcome: value.outcome ?? (status === 201 ? 'created' : 'exists') };
    },
    enqueueBatch: async (jobs, options) => {
      const queues = [...new Set(jobs.map(({ queue }) => queue))];
      const { value } = await traced(tracer, queues, (trace) =>
        transport({
          method: 'POST',
          path: '/v1/jobs/batch',
          body: { jobs: jobs.map((job) => ({ id: ids.uuidv7(), ...job })) },
          keyed: true,
          answer: enqueuedBatchResponse,
          trace,
          ...options,
        }),
      );
      return value.jobs;
    },
    getJob: async (id, { wait, ...options } = {}) => {
      const call = transport({
        method: 'GET',
        path: pathOf(id),
        query: { wait },
        waitSeconds: wait,
        answer: jobResponse,
        ...options,
      });
      return (await orOn('not_found', undefined, call))?.value;
    },
    listJobs: async (query = {}, options) => {
      const call = { method: 'GET', path: '/v1/jobs', query, answer: jobPageResponse } as const;
      return (await transport({ ...call, ...options })).value;
    },
    cancel: async (id, { reason, ...options } = {}) => {
      const call = transport({
        method: 'POST',
        path: `${pathOf(id)}/cancel`,
        body: { reason },
        keyed: true,
        answer: cancelResponse,
        ...options,
      }).then(({ value }) => ({ outcome: value.outcome }));
      const known = orOn('job_ended', { outcome: 'already_ended' } as const, call);
      return await orOn('not_found', { outcome: 'not_found' } as const, known);
    },
    edit: async (id, edit, options) => {
      const call = transport({
        method: 'PATCH',
        path: pathOf(id),
        body: edit,
        answer: jobResponse,
        ...options,
      }).then(({ value }) => value);
      const known = orOn('job_not_pending', { outcome: 'not_pending' } as const, call);
      return await orOn('not_found', { outcome: 'not_found' } as const, known);
    },
  };
}

function pathOf(id: string): string {
  return `/v1/jobs/${encodeURIComponent(id)}`;
}

/** The span of a producer, which its jobs belong to. */
async function traced<Answer>(
  tracer: Tracer,
  queues: readonly string[],
  call: (trace: TraceContext | undefined) => Promise<Answer>,
): Promise<Answer> {
  const [queue = ''] = queues;
  const span = tracer.start(`enqueue ${queues.length === 1 ? queue : 'into several queues'}`, {
    kind: 'producer',
    attributes: queueAttributes(queues.join(' '), 'enqueue'),
  });
  try {
    const answer = await call(span.context);
    span.end();
    return answer;
  } catch (thrown) {
    span.end(thrown instanceof LeaseholdApiError ? thrown.code : 'aborted');
    throw thrown;
  }
}
