import { defined } from '../../shared/defined.ts';
import { weightedOrder } from '../../shared/fairness.ts';
import { pollUntil } from '../../shared/poll-until.ts';
import { claimBatch } from '../../shared/queue/claim-batch.ts';
import { claimQueuesRequest } from '../../shared/schemas/claim-queues-request.ts';
import { claimRequest } from '../../shared/schemas/claim-request.ts';
import type { ClaimRequest } from '../../shared/schemas/claim-request.ts';
import { queueName } from '../../shared/schemas/names.ts';
import { tracedClaim } from '../claim-span.ts';
import type { AppDeps } from '../deps.ts';
import { leaseAnswer } from '../lease-answer.ts';
import { requireQueue } from '../middleware/queue-access.ts';
import { readJson, readOptionalJson } from '../middleware/read-json.ts';
import { readParam } from '../middleware/read-query.ts';
import { waitDeadline } from '../wait-deadline.ts';
import { askWake } from '../wake/ask-wake.ts';
import type { Route, RouteContext } from './route.ts';

/** Leases jobs of one queue to whoever asks; an empty list when there is nothing, or not in time. */
export const claimFromQueue: Route = {
  method: 'POST',
  path: '/v1/queues/:queue/claims',
  access: { kind: 'token', scope: 'work' },
  database: true,
  handle: async (context, deps) => {
    const queue = readParam(context, 'queue', queueName);
    requireQueue(context, queue);
    const request = await readOptionalJson(context, claimRequest);
    return await claimed(context, deps, request, () => [queue]);
  },
};

/** The same from the first of several queues that has a job, tried in a weighted random order. */
export const claimFromQueues: Route = {
  method: 'POST',
  path: '/v1/claims',
  access: { kind: 'token', scope: 'work' },
  database: true,
  handle: async (context, deps) => {
    const request = await readJson(context, claimQueuesRequest);
    for (const { name } of request.queues) requireQueue(context, name);
    return await claimed(context, deps, request, () =>
      weightedOrder(request.queues, deps.random.next),
    );
  },
};

/**
 * Claims, and claims again while it may wait. The claim id is the same all along, and with it the leases: a caller that
 * lost the answer repeats the request. A claim that has begun is not aborted when the caller goes, since it may have
 * been made.
 */
async function claimed(
  context: RouteContext,
  deps: AppDeps,
  request: ClaimRequest,
  queues: () => readonly string[],
): Promise<Response> {
  const claimId = request.claim_id ?? deps.ids.uuidv7();
  const claim = {
    owner: context.get('actor'),
    claimId,
    limit: request.limit ?? 1,
    leaseSeconds: request.lease_seconds,
    secondsPerJob: request.seconds_per_job,
  };
  const jobs = await tracedClaim(
    deps,
    queues(),
    () =>
      pollUntil(
        deps,
        {
          deadlineMs: waitDeadline(context, deps, request.wait ?? 0),
          signal: context.req.raw.signal,
        },
        async () => {
          for (const queue of queues()) {
            const taken = await claimBatch(deps.sql, defined({ ...claim, queue }));
            if (taken.length > 0) return taken;
          }
          return undefined;
        },
      ),
    (taken) => taken ?? [],
  );
  askWake(
    deps,
    (jobs ?? []).map(({ leaseExpiresAt }) => leaseExpiresAt),
  );
  return context.json({ claim_id: claimId, jobs: (jobs ?? []).map(leaseAnswer) });
}
