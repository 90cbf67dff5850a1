import { defined } from '../../shared/defined.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { claimEscalated, type HeldJob } from '../../shared/queue/claim-escalated.ts';
import { jobQueues } from '../../shared/queue/job-queues.ts';
import { listEscalations } from '../../shared/queue/list-escalations.ts';
import { settleEscalated, type Decision } from '../../shared/queue/settle-escalated.ts';
import {
  claimEscalatedRequest,
  completeEscalatedRequest,
  discardEscalatedRequest,
  releaseEscalatedRequest,
  sendBackRequest,
} from '../../shared/schemas/escalation-requests.ts';
import { jobId } from '../../shared/schemas/job-id.ts';
import { listDeadLettersQuery } from '../../shared/schemas/list-dead-letters-query.ts';
import type { AppDeps } from '../deps.ts';
import { queuesOf, requireJob, requireQueue } from '../middleware/queue-access.ts';
import { readJson, readOptionalJson } from '../middleware/read-json.ts';
import { readParam, readQuery } from '../middleware/read-query.ts';
import { pokeQueues } from '../poke-queues.ts';
import { takenAnswer } from '../taken-answer.ts';
import { askDrain } from '../wake/ask-drain.ts';
import type { Route, RouteContext } from './route.ts';

/** Escalated jobs, those that have waited longest first, by pages. */
export const listEscalationsRoute: Route = {
  method: 'GET',
  path: '/v1/escalations',
  access: { kind: 'token', scope: 'read' },
  database: true,
  handle: async (context, deps) => {
    const query = readQuery(context, listDeadLettersQuery);
    if (query.queue !== undefined) requireQueue(context, query.queue);
    const page = await listEscalations(deps.sql, defined({ ...query, only: queuesOf(context) }));
    return context.json({ jobs: page.jobs, next_cursor: page.nextCursor });
  },
};

/** A person takes an escalated job, if one is free. */
export const claimEscalation: Route = {
  ...humanRoute('claims'),
  handle: async (context, deps) => {
    const request = await readOptionalJson(context, claimEscalatedRequest);
    if (request.queue !== undefined) requireQueue(context, request.queue);
    if (request.job_id !== undefined) await requireJob(context, deps, request.job_id);
    const claimId = request.claim_id ?? deps.ids.uuidv7();
    const held = await claimEscalated(
      deps.sql,
      defined({
        owner: context.get('actor'),
        claimId,
        queue: request.queue,
        jobId: request.job_id,
        leaseSeconds: request.lease_seconds,
        only: queuesOf(context),
      }),
    );
    return context.json({ claim_id: claimId, job: held === undefined ? null : heldAnswer(held) });
  },
};

/** The person did the work: the job has succeeded. */
export const completeEscalation: Route = {
  ...humanRoute(':id/complete'),
  handle: async (context, deps) => {
    const { fencing_token, result, note } = await readJson(context, completeEscalatedRequest);
    const decision = defined({ action: 'complete' as const, result, note });
    return await settled(context, deps, fencing_token, decision);
  },
};

/** Back to its queue, with fresh budgets and a note for the next holders. */
export const sendBackEscalation: Route = {
  ...humanRoute(':id/send-back'),
  handle: async (context, deps) => {
    const { fencing_token, note } = await readJson(context, sendBackRequest);
    return await settled(context, deps, fencing_token, { action: 'send_back', note });
  },
};

/** Given up: the job ends as cancelled. */
export const discardEscalation: Route = {
  ...humanRoute(':id/discard'),
  handle: async (context, deps) => {
    const { fencing_token, reason } = await readJson(context, discardEscalatedRequest);
    return await settled(context, deps, fencing_token, { action: 'discard', reason });
  },
};

/** The hold ends, and the job goes on waiting for a person. */
export const releaseEscalation: Route = {
  ...humanRoute(':id/release'),
  handle: async (context, deps) => {
    const { fencing_token } = await readJson(context, releaseEscalatedRequest);
    return await settled(context, deps, fencing_token, { action: 'release' });
  },
};

function humanRoute(path: string): Omit<Route, 'handle'> {
  return {
    method: 'POST',
    path: `/v1/escalations/${path}`,
    access: { kind: 'token', scope: 'human' },
    database: true,
  };
}

async function settled(
  context: RouteContext,
  deps: AppDeps,
  fencingToken: string,
  decision: Decision,
): Promise<Response> {
  const id = readParam(context, 'id', jobId);
  await requireJob(context, deps, id);
  const owner = context.get('actor');
  const end = await settleEscalated(deps.sql, { jobId: id, owner, fencingToken, ...decision });
  switch (end.outcome) {
    case 'pending': {
      const queues = await jobQueues(deps.sql, { jobIds: [id] });
      pokeQueues(deps, queues.values());
      askDrain(deps);
      return context.json({ outcome: end.outcome, due_at: end.dueAt.toISOString() });
    }
    case 'succeeded':
    case 'cancelled':
      askDrain(deps); // an ordering key may be free
      return context.json({ outcome: end.outcome });
    case 'escalated':
      return context.json({ outcome: end.outcome });
    case 'dedup_key_taken':
      throw new LeaseholdError(
        'dedup_key_taken',
        'Another live job has the dedup key of this one; your hold goes on.',
        { facts: { clash: end.clash } },
      );
    case 'lease_lost':
      throw new LeaseholdError(
        'lease_lost',
        'Your hold on this job has run out, or the job has been settled.',
      );
  }
}

function heldAnswer(job: HeldJob): Record<string, unknown> {
  return {
    ...takenAnswer(job),
    reason: job.reason,
    error: job.error,
    escalated_at: job.escalatedAt.toISOString(),
  };
}
