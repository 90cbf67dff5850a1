import { defined } from '../../shared/defined.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import type { Ids } from '../../shared/ports.ts';
import { parseWith } from '../../shared/parse-with.ts';
import { enqueue } from '../../shared/queue/enqueue.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import type { EnqueuedJob } from '../../shared/queue/enqueued-job.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { listJobs } from '../../shared/queue/list-jobs.ts';
import type { NewJob } from '../../shared/queue/new-job.ts';
import { enqueueBatchRequest } from '../../shared/schemas/enqueue-batch-request.ts';
import { enqueueRequest } from '../../shared/schemas/enqueue-request.ts';
import type { EnqueueRequest } from '../../shared/schemas/enqueue-request.ts';
import { jobId } from '../../shared/schemas/job-id.ts';
import { listJobsQuery } from '../../shared/schemas/list-jobs-query.ts';
import type { TraceContext } from '../../shared/trace-context.ts';
import type { AppDeps } from '../deps.ts';
import { invalidRequest, readJson } from '../middleware/read-json.ts';
import type { Route, RouteContext } from './route.ts';

/** The jobs of a batch are due microseconds apart, to keep their order. */
const DUE_AT_ONCE_MS = 50;

/** Stores one job: 201 when it is new, 200 with the same body when this very job was there already. */
export const enqueueJob: Route = {
  method: 'POST',
  path: '/v1/jobs',
  access: { kind: 'token', scope: 'enqueue' },
  database: true,
  handle: async (context, deps) => {
    const request = await readJson(context, enqueueRequest);
    const job = newJob(request, deps.ids, context.get('trace'));
    const stored = await enqueue(deps.sql, { job, actor: context.get('actor') }).catch(
      (error: unknown) => {
        throw namedForOneJob(error);
      },
    );
    pokeQueues(deps, [stored]);
    context.header('location', `/v1/jobs/${stored.jobId}`);
    return context.json(jobAnswer(stored), stored.outcome === 'created' ? 201 : 200);
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
    const jobs = request.jobs.map((job) => newJob(job, deps.ids, context.get('trace')));
    const stored = await enqueueBatch(deps.sql, { jobs, actor: context.get('actor') });
    pokeQueues(deps, stored);
    const created = stored.some(({ outcome }) => outcome === 'created');
    return context.json(
      { jobs: stored.map((job) => ({ ...jobAnswer(job), outcome: job.outcome })) },
      created ? 201 : 200,
    );
  },
};

/** Everything about one job. */
export const readJob: Route = {
  method: 'GET',
  path: '/v1/jobs/:id',
  access: { kind: 'token', scope: 'read' },
  database: true,
  handle: async (context, deps) => {
    const id = parseWith(jobId, context.req.param('id'));
    if (!id.ok) throw invalidRequest(id.problems.map(({ message }) => ({ path: 'id', message })));
    const job = await getJob(deps.sql, { jobId: id.value });
    if (job === undefined) throw new LeaseholdError('not_found', 'No job has this id.');
    return context.json(job);
  },
};

/** Jobs, newest first, by pages. */
export const listJobsRoute: Route = {
  method: 'GET',
  path: '/v1/jobs',
  access: { kind: 'token', scope: 'read' },
  database: true,
  handle: async (context, deps) => {
    const query = parseWith(listJobsQuery, queryOf(context));
    if (!query.ok) throw invalidRequest(query.problems);
    const page = await listJobs(deps.sql, defined(query.value));
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

/**
 * One poke a queue, after the commit (before it, the poke could find nothing). A repeated enqueue pokes again: the
 * first poke may be what was lost. A job that is not due yet is the drain's affair.
 */
function pokeQueues(deps: AppDeps, stored: readonly EnqueuedJob[]): void {
  if (!deps.config.insertPokes) return;
  const due = stored.filter(
    ({ dueAt, createdAt }) => dueAt.getTime() - createdAt.getTime() <= DUE_AT_ONCE_MS,
  );
  for (const queue of new Set(due.map((job) => job.queue))) {
    if (!deps.handlers.serves(queue)) continue;
    deps.background.run(() => deps.poker.send({ queue, depth: 0 }));
  }
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

/** Each parameter once: of two values for one name, neither can be the one that was meant. */
function queryOf(context: RouteContext): Record<string, string> {
  const query = new URL(context.req.url).searchParams;
  for (const name of query.keys()) {
    if (query.getAll(name).length > 1) {
      throw invalidRequest([{ path: name, message: 'is given more than once' }]);
    }
  }
  // Not by assignment: that would lose a parameter named __proto__ instead of refusing it.
  return Object.fromEntries(query);
}
