import { defined } from '../../shared/defined.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { pollUntil } from '../../shared/poll-until.ts';
import { cancel } from '../../shared/queue/cancel.ts';
import { editJob } from '../../shared/queue/edit-job.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import type { Job, JobState } from '../../shared/queue/job.ts';
import { cancelRequest } from '../../shared/schemas/cancel-request.ts';
import { editJobRequest } from '../../shared/schemas/edit-job-request.ts';
import { jobId } from '../../shared/schemas/job-id.ts';
import { waitQuery } from '../../shared/schemas/wait-query.ts';
import type { AppDeps } from '../deps.ts';
import { allowsQueue, noSuchJob, requireJob } from '../middleware/queue-access.ts';
import { readJson, readOptionalJson } from '../middleware/read-json.ts';
import { readParam, readQuery } from '../middleware/read-query.ts';
import { pokeQueues } from '../poke-queues.ts';
import { waitDeadline } from '../wait-deadline.ts';
import { askDrain } from '../wake/ask-drain.ts';
import { askWake } from '../wake/ask-wake.ts';
import type { Route, RouteContext } from './route.ts';

/** States that no worker leads out of: a wait for the end of a job is over. */
const ENDED: readonly JobState[] = ['succeeded', 'dead', 'escalated', 'cancelled'];

/**
 * Everything about one job. With `wait`, as soon as it has ended, or as it is when the time is up; nothing is held open
 * meanwhile.
 */
export const readJob: Route = {
  method: 'GET',
  path: '/v1/jobs/:id',
  access: { kind: 'token', scope: 'read' },
  database: true,
  handle: async (context, deps) => {
    const id = readParam(context, 'id', jobId);
    const { wait = 0 } = readQuery(context, waitQuery);
    let seen = await visibleJob(context, deps, id);
    if (!ENDED.includes(seen.state) && wait > 0) {
      const deadlineMs = waitDeadline(context, deps, wait);
      const { signal } = context.req.raw;
      let first = true;
      await pollUntil(deps, { deadlineMs, signal }, async () => {
        if (!first) seen = await visibleJob(context, deps, id);
        first = false;
        return ENDED.includes(seen.state) ? seen : undefined;
      });
    }
    return context.json(seen);
  },
};

/** Calls a job off: 200 when it has ended so, 202 when an attempt runs that will hear of it. */
export const cancelJob: Route = {
  method: 'POST',
  path: '/v1/jobs/:id/cancel',
  access: { kind: 'token', scope: 'operate' },
  database: true,
  handle: async (context, deps) => {
    const id = readParam(context, 'id', jobId);
    const { reason } = await readOptionalJson(context, cancelRequest);
    await requireJob(context, deps, id);
    const input = defined({ jobId: id, actor: context.get('actor'), reason });
    const outcome = await cancel(deps.sql, input);
    switch (outcome) {
      case 'cancelled':
        askDrain(deps); // the next of its ordering key may go
        return context.json({ id, outcome });
      case 'cancel_requested':
        return context.json({ id, outcome }, 202);
      case 'already_ended':
        // A repeat after a lost answer finds what the first call did.
        if ((await getJob(deps.sql, { jobId: id }))?.state === 'cancelled') {
          return context.json({ id, outcome: 'cancelled' });
        }
        throw new LeaseholdError('job_ended', 'The job has succeeded, is dead, or waits for a person.');
      case 'not_found':
        throw noSuchJob();
    }
  },
};

/** Changes when a pending job is due, or its priority. */
export const changeJob: Route = {
  method: 'PATCH',
  path: '/v1/jobs/:id',
  access: { kind: 'token', scope: 'operate' },
  database: true,
  handle: async (context, deps) => {
    const id = readParam(context, 'id', jobId);
    const request = await readJson(context, editJobRequest);
    await requireJob(context, deps, id);
    const outcome = await editJob(
      deps.sql,
      defined({
        jobId: id,
        dueAt: request.due_at,
        priority: request.priority,
        actor: context.get('actor'),
      }),
    );
    switch (outcome) {
      case 'edited': {
        const job = await visibleJob(context, deps, id);
        const dueAt = new Date(job.due_at);
        if (dueAt.getTime() <= deps.clock.now()) pokeQueues(deps, [job.queue]);
        else askWake(deps, [dueAt]);
        return context.json(job);
      }
      case 'not_pending':
        throw new LeaseholdError('job_not_pending', 'The job runs or has ended.');
      case 'not_found':
        throw noSuchJob();
    }
  },
};

async function visibleJob(context: RouteContext, deps: AppDeps, id: string): Promise<Job> {
  const job = await getJob(deps.sql, { jobId: id });
  if (job === undefined || !allowsQueue(context, job.queue)) throw noSuchJob();
  return job;
}
