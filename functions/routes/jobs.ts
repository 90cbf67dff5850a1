import { defined } from '../../shared/defined.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import type { Ids } from '../../shared/ports.ts';
import { enqueue } from '../../shared/queue/enqueue.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import type { EnqueuedJob } from '../../shared/queue/enqueued-job.ts';
import { listJobs } from '../../shared/queue/list-jobs.ts';
import type { NewJob } from '../../shared/queue/new-job.ts';
import { enqueueBatchRequest } from '../../shared/schemas/enqueue-batch-request.ts';
import { enqueueRequest } from '../../shared/schemas/enqueue-request.ts';
import type { EnqueueRequest } from '../../shared/schemas/enqueue-request.ts';
import { listJobsQuery } from '../../shared/schemas/list-jobs-query.ts';
import type { TraceContext } from '../../shared/trace-context.ts';
import { listedQueue, requireQueue } from '../middleware/queue-access.ts';
import { readJson } from '../middleware/read-json.ts';
import { readQuery } from '../middleware/read-query.ts';
import { announceJobs } from '../wake/announce-jobs.ts';
import type { Route } from './route.ts';

/**
 * Stores one job: 201 when it is new, 200 with the same body when this very job was there already, 200 with
 * `"outcome": "duplicate"` and the live job when that has the dedup key.
 */
export const enqueueJob: Route = {
  method: 'POST',
  path: '/v1/jobs',
  access: { kind: 'token', scope: 'enqueue' },
  database: true,
  handle: async (context, deps) => {
    const request = await readJson(context, enqueueRequest);
    requireQueue(context, request.queue);
    const job = newJob(request, deps.ids, context.get('trace'));
    const stored = await enqueue(deps.sql, { job, actor: context.get('actor') }).catch(
      (error: unknown) => {
        throw namedForOneJob(error);
      },
    );
    announceJobs(deps, [stored]);
    context.header('location', `/v1/jobs/${stored.jobId}`);
    const answer = jobAnswer(stored);
    if (stored.outcome !== 'duplicate') {
      return context.json(answer, stored.outcome === 'created' ? 201 : 200);
    }
    return context.json({ ...answer, outcome: stored.outcome }, 200);
  },
};

/** Stores all jobs or none; problems are named `jobs[i].field`. */
export const enqueueJobs: Route = {
  method: 'POST',
  path: '/v1/jobs/batch',
  access: { kind: 'token', scope: 'enqueue' },
  database: true,
  handle: async (context, deps) => {
    const request = await readJson(context, enqueueBatchRequest);
    for (const { queue } of request.jobs) requireQueue(context, queue);
    const jobs = request.jobs.map((job) => newJob(job, deps.ids, context.get('trace')));
    const stored = await enqueueBatch(deps.sql, { jobs, actor: context.get('actor') });
    announceJobs(deps, stored);
    const created = stored.some(({ outcome }) => outcome === 'created');
    return context.json(
      { jobs: stored.map((job) => ({ ...jobAnswer(job), outcome: job.outcome })) },
      created ? 201 : 200,
    );
  },
};

/** Jobs, newest first, by pages. */
export const listJobsRoute: Route = {
  method: 'GET',
  path: '/v1/jobs',
  access: { kind: 'token', scope: 'read' },
  database: true,
  handle: async (context, deps) => {
    const query = readQuery(context, listJobsQuery);
    const { ordering_key: orderingKey, dedup_key: dedupKey, ...others } = query;
    const page = await listJobs(
      deps.sql,
      defined({
        ...others,
        queue: listedQueue(context, query.queue, 'queue'),
        orderingKey,
        dedupKey,
      }),
    );
    return context.json({ jobs: page.jobs, next_cursor: page.nextCursor });
  },
};

function newJob(request: EnqueueRequest, ids: Ids, trace: TraceContext | undefined): NewJob {
  return defined({
    id: request.id ?? ids.uuidv7(),
    queue: request.queue,
    type: request.type,
    payload: request.payload,
    priority: request.priority,
    delayMs:
      request.delay_seconds === undefined ? undefined : Math.round(request.delay_seconds * 1000),
    dueAt: request.due_at,
    maxAttempts: request.max_attempts,
    maxUnknownAttempts: request.max_unknown_attempts,
    retryBudgetSeconds: request.retry_budget_seconds,
    escalateAfter: request.escalate_after,
    orderingKey: request.ordering_key,
    dedupKey: request.dedup_key,
    onDuplicate: request.on_duplicate,
    tags: request.tags,
    schemaVersion: request.schema_version,
    // What the producer states wins over the trace of the request that happens to carry it.
    headers: { ...trace, ...request.headers },
  });
}

function jobAnswer(job: EnqueuedJob): Record<string, string | number> {
  return {
    id: job.jobId,
    queue: job.queue,
    type: job.type,
    priority: job.priority,
    max_attempts: job.maxAttempts,
    due_at: job.dueAt.toISOString(),
    created_at: job.createdAt.toISOString(),
  };
}

/** The routine takes lists and names jobs by place; a caller that sent one job knows no `jobs[0]`. */
function namedForOneJob(error: unknown): unknown {
  if (!(error instanceof LeaseholdError) || error.problems.length === 0) return error;
  const problems = error.problems.map(({ path, message }) => ({
    path: path.replace(/^jobs\[0\]\./, ''),
    message,
  }));
  return new LeaseholdError(error.code, error.message.replace(/^jobs\[0\]\./, ''), {
    problems,
    cause: error,
  });
}
