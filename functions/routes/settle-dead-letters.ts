import { defined } from '../../shared/defined.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { MAX_SAMPLE_IDS, MAX_SETTLED_JOBS } from '../../shared/limits.ts';
import { discard } from '../../shared/queue/discard.ts';
import { jobQueues } from '../../shared/queue/job-queues.ts';
import { matchingDeadLetters } from '../../shared/queue/matching-dead-letters.ts';
import { redrive } from '../../shared/queue/redrive.ts';
import { discardMatchingRequest } from '../../shared/schemas/discard-matching-request.ts';
import type { DiscardMatchingRequest } from '../../shared/schemas/discard-matching-request.ts';
import { discardRequest } from '../../shared/schemas/discard-request.ts';
import { redriveMatchingRequest } from '../../shared/schemas/redrive-matching-request.ts';
import { redriveRequest } from '../../shared/schemas/redrive-request.ts';
import type { AppDeps } from '../deps.ts';
import { allowedJobs, listedQueue } from '../middleware/queue-access.ts';
import { readJson } from '../middleware/read-json.ts';
import { pokeQueues } from '../poke-queues.ts';
import { askDrain } from '../wake/ask-drain.ts';
import type { Route, RouteContext } from './route.ts';

/** How one job was settled, in the words of the operation. */
interface Settled {
  readonly id: string;
  readonly outcome: 'redriven' | 'discarded' | 'dedup_key_taken' | 'not_dead';
  /** The live job that has the dedup key. */
  readonly clash?: string;
}

/** Settles the jobs of these ids, at most 1,000. */
type Settle = (
  context: RouteContext,
  deps: AppDeps,
  jobIds: readonly string[],
  order: { readonly reason: string; readonly per_second?: number | undefined },
) => Promise<readonly Settled[]>;

/** Sends chosen dead jobs back. */
export const redriveDeadLetters: Route = {
  ...bulkRoute('redrive'),
  handle: async (context, deps) => {
    const request = await readJson(context, redriveRequest);
    return settledAnswer(context, await settleChosen(context, deps, request, redriveJobs));
  },
};

/** Gives chosen dead jobs up. */
export const discardDeadLetters: Route = {
  ...bulkRoute('discard'),
  handle: async (context, deps) => {
    const request = await readJson(context, discardRequest);
    return settledAnswer(context, await settleChosen(context, deps, request, discardJobs));
  },
};

/** Sends back the dead jobs that fit a filter, if they are as many as the caller expects. */
export const redriveMatching: Route = {
  ...bulkRoute('redrive-matching'),
  handle: async (context, deps) =>
    await settleMatching(
      context,
      deps,
      await readJson(context, redriveMatchingRequest),
      redriveJobs,
    ),
};

/** Gives up the dead jobs that fit a filter, if they are as many as the caller expects. */
export const discardMatching: Route = {
  ...bulkRoute('discard-matching'),
  handle: async (context, deps) =>
    await settleMatching(
      context,
      deps,
      await readJson(context, discardMatchingRequest),
      discardJobs,
    ),
};

function bulkRoute(verb: string): Omit<Route, 'handle'> {
  return {
    method: 'POST',
    path: `/v1/dead-letters/${verb}`,
    access: { kind: 'token', scope: 'operate' },
    database: true,
  };
}

/** Jobs of queues that the token is not for are answered like ids that are no dead jobs. */
async function settleChosen(
  context: RouteContext,
  deps: AppDeps,
  request: {
    readonly job_ids: readonly string[];
    readonly reason: string;
    readonly per_second?: number | undefined;
  },
  settle: Settle,
): Promise<readonly Settled[]> {
  const asked = [...new Set(request.job_ids)];
  const allowed = await allowedJobs(context, deps, asked);
  const settled = allowed.length === 0 ? [] : await settle(context, deps, allowed, request);
  const outcomes = new Map(settled.map((one) => [one.id, one]));
  return asked.map((id) => outcomes.get(id) ?? { id, outcome: 'not_dead' });
}

/**
 * The count that a person saw must still be the count: a filter that meanwhile fits more jobs is not what they decided
 * on. What changes between the look and the deed is reported job by job.
 */
async function settleMatching(
  context: RouteContext,
  deps: AppDeps,
  request: DiscardMatchingRequest & { readonly per_second?: number | undefined },
  settle: Settle,
): Promise<Response> {
  const filter = defined({
    ...request.filter,
    queue: listedQueue(context, request.filter.queue, 'filter.queue'),
  });
  const ids = await matchingDeadLetters(deps.sql, { filter, limit: MAX_SETTLED_JOBS + 1 });
  const found = ids.slice(0, MAX_SETTLED_JOBS);
  const more = ids.length > MAX_SETTLED_JOBS;
  const { expected_count: expected, reason, dry_run: dryRun = false } = request;
  if (dryRun || expected === undefined || reason === undefined) {
    return context.json({
      dry_run: true,
      count: found.length,
      more,
      sample: found.slice(0, MAX_SAMPLE_IDS),
    });
  }
  if (more || found.length !== expected) {
    throw new LeaseholdError(
      'count_mismatch',
      `The filter fits ${more ? `more than ${MAX_SETTLED_JOBS}` : found.length} dead jobs, not ${expected}.`,
      { facts: { actual_count: found.length, more, expected_count: expected } },
    );
  }
  const order = { reason, per_second: request.per_second };
  return settledAnswer(
    context,
    found.length === 0 ? [] : await settle(context, deps, found, order),
  );
}

async function redriveJobs(
  ...[context, deps, jobIds, { reason, per_second: perSecond }]: Parameters<Settle>
): Promise<readonly Settled[]> {
  const actor = context.get('actor');
  const jobs = await redrive(deps.sql, defined({ jobIds, reason, actor, perSecond }));
  const sent = jobs.filter(({ outcome }) => outcome === 'redriven').map(({ jobId }) => jobId);
  if (sent.length > 0) {
    const queues = await jobQueues(deps.sql, { jobIds: sent });
    pokeQueues(deps, queues.values());
    askDrain(deps); // for those that are sent back one after another, and to send many pokes where there are many jobs
  }
  return jobs.map(({ jobId, outcome, clash }) =>
    clash === null ? { id: jobId, outcome } : { id: jobId, outcome, clash },
  );
}

async function discardJobs(
  ...[context, deps, jobIds, { reason }]: Parameters<Settle>
): Promise<readonly Settled[]> {
  const jobs = await discard(deps.sql, { jobIds, reason, actor: context.get('actor') });
  if (jobs.some(({ outcome }) => outcome === 'discarded')) askDrain(deps); // ordering keys may be free
  return jobs.map(({ jobId, outcome }) => ({ id: jobId, outcome }));
}

function settledAnswer(context: RouteContext, jobs: readonly Settled[]): Response {
  const settled = jobs.filter(({ outcome }) => outcome === 'redriven' || outcome === 'discarded');
  return context.json({ settled: settled.length, jobs });
}
