import { defined } from '../../shared/defined.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import type { Job, JobState } from '../../shared/queue/job.ts';
import { listDeadLetters } from '../../shared/queue/list-dead-letters.ts';
import { noteDeadLetter } from '../../shared/queue/note-dead-letter.ts';
import { settleEffect } from '../../shared/queue/settle-effect.ts';
import { effectKey } from '../../shared/schemas/effect-key.ts';
import { jobId } from '../../shared/schemas/job-id.ts';
import { listDeadLettersQuery } from '../../shared/schemas/list-dead-letters-query.ts';
import { noteDeadLetterRequest } from '../../shared/schemas/note-dead-letter-request.ts';
import { settleEffectRequest } from '../../shared/schemas/settle-effect-request.ts';
import type { AppDeps } from '../deps.ts';
import { allowsQueue, listedQueue, requireJob } from '../middleware/queue-access.ts';
import { readJson } from '../middleware/read-json.ts';
import { readParam, readQuery } from '../middleware/read-query.ts';
import type { Route, RouteContext } from './route.ts';

/** Dead jobs, the oldest first, by pages. */
export const listDeadLettersRoute: Route = {
  method: 'GET',
  path: '/v1/dead-letters',
  access: { kind: 'token', scope: 'read' },
  database: true,
  handle: async (context, deps) => {
    const query = readQuery(context, listDeadLettersQuery);
    const queue = listedQueue(context, query.queue, 'queue');
    const page = await listDeadLetters(deps.sql, defined({ ...query, queue }));
    return context.json({ jobs: page.jobs, next_cursor: page.nextCursor });
  },
};

/** A dead job with its payload, all attempts and effects. */
export const readDeadLetter: Route = {
  method: 'GET',
  path: '/v1/dead-letters/:id',
  access: { kind: 'token', scope: 'read' },
  database: true,
  handle: async (context, deps) =>
    context.json(await deadJob(context, deps, readParam(context, 'id', jobId))),
};

/** Gives a dead or escalated job an owner and a note. */
export const changeDeadLetter: Route = {
  method: 'PATCH',
  path: '/v1/dead-letters/:id',
  access: { kind: 'token', scope: 'operate' },
  database: true,
  handle: async (context, deps) => {
    const id = readParam(context, 'id', jobId);
    const { owner, note } = await readJson(context, noteDeadLetterRequest);
    await requireJob(context, deps, id);
    const input = defined({ jobId: id, owner, note, actor: context.get('actor') });
    if ((await noteDeadLetter(deps.sql, input)) === 'not_dead') throw notDead();
    return context.json(await deadJob(context, deps, id, ['dead', 'escalated']));
  },
};

/** A person's word on an effect of which nobody knows how it ended. */
export const settleEffectRoute: Route = {
  method: 'POST',
  path: '/v1/dead-letters/:id/effects/:key',
  access: { kind: 'token', scope: 'operate' },
  database: true,
  handle: async (context, deps) => {
    const id = readParam(context, 'id', jobId);
    const key = readParam(context, 'key', effectKey);
    const { state, result } = await readJson(context, settleEffectRequest);
    await requireJob(context, deps, id);
    const outcome = await settleEffect(
      deps.sql,
      defined({ jobId: id, key, state, result, actor: context.get('actor') }),
    );
    switch (outcome) {
      case 'settled':
        return context.json({ job_id: id, key, state });
      case 'running':
        throw new LeaseholdError('job_running', 'An attempt of the job runs and may yet tell.');
      case 'not_found':
      case 'lease_lost':
        throw new LeaseholdError('not_found', 'The job has no effect of this key.');
    }
  },
};

async function deadJob(
  context: RouteContext,
  deps: AppDeps,
  id: string,
  states: readonly JobState[] = ['dead'],
): Promise<Job> {
  const job = await getJob(deps.sql, { jobId: id });
  if (job === undefined || !states.includes(job.state) || !allowsQueue(context, job.queue)) {
    throw notDead();
  }
  return job;
}

function notDead(): LeaseholdError {
  return new LeaseholdError('not_found', 'No dead job has this id.');
}
