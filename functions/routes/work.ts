import { workRequest } from '../../shared/schemas/work-request.ts';
import type { PushOutcome } from '../../shared/push/push-job.ts';
import { requireAllQueues, requireQueue } from '../middleware/queue-access.ts';
import { readJson } from '../middleware/read-json.ts';
import { relayPoked } from '../relay/relay-poked.ts';
import { afterWork } from '../wake/after-work.ts';
import { workOnce } from '../work-once.ts';
import type { WorkOutcome } from '../work-outcome.ts';
import type { Route } from './route.ts';

/**
 * A poke: claims a job of the queue and runs or pushes it before answering; more of them, one after another, where the
 * deployment says so. Pokes are hints, so an empty queue, or one that this deployment does not serve, is an ordinary answer.
 */
export const work: Route = {
  method: 'POST',
  path: '/v1/work',
  access: { kind: 'poke_or_token', scope: 'work' },
  database: true,
  idempotencyKey: 'ignored', // a hint: doubled, it finds an empty queue
  handle: async (context, deps) => {
    const { relay, ...poke } = await readJson(context, workRequest);
    const { queue, depth } = poke;
    if (relay) {
      requireAllQueues(context);
      return context.json(await relayPoked(deps, { depth, startedAt: context.get('startedAt') }));
    }
    requireQueue(context, queue);
    const done = await workOnce(deps, {
      queue,
      owner: context.get('actor'),
      invocationEndsAt: context.get('startedAt') + deps.invocationMs,
    });
    afterWork(deps, poke, done);
    return context.json(answer(queue, done));
  },
};

function answer(queue: string, done: WorkOutcome): Record<string, unknown> {
  if (done.outcome !== 'ran') return { outcome: done.outcome, queue };
  const { job, run } = done;
  return {
    outcome: run.outcome,
    queue,
    job_id: job.jobId,
    type: job.type,
    attempt: job.attempt,
    more_due: done.moreDue,
    jobs_run: done.jobsRun,
    ...(done.jobsBuried === 0 ? {} : { jobs_buried: done.jobsBuried }),
    ...details(run),
  };
}

function details(run: PushOutcome): Record<string, string> {
  switch (run.outcome) {
    case 'succeeded':
      return run.resultProblem === undefined ? {} : { result_problem: run.resultProblem };
    case 'retrying':
      return { code: run.code, due_at: run.dueAt.toISOString() };
    case 'dead':
    case 'escalated':
      return { code: run.code };
    case 'snoozed':
      return { due_at: run.dueAt.toISOString() };
    case 'cancelled':
    case 'handed_over':
    case 'lease_lost':
    case 'unknown':
      return {};
  }
}
