import { MAX_POKE_DEPTH } from '../../shared/limits.ts';
import type { EnqueuedJob } from '../../shared/queue/enqueued-job.ts';
import type { AppDeps } from '../deps.ts';
import { mayServe, pokeQueues } from '../poke-queues.ts';
import { askDrain } from './ask-drain.ts';
import { askWake } from './ask-wake.ts';

/** The jobs of a batch are due microseconds apart, to keep their order. */
const DUE_AT_ONCE_MS = 50;
/** What one poke and the chain behind it can run. */
const MAX_CHAIN_JOBS = MAX_POKE_DEPTH + 1;

/**
 * After the commit of new jobs: pokes for those that are due, and the wake clock for the first of those that will be. A
 * repeated enqueue announces again: the first time may be what was lost.
 */
export function announceJobs(deps: AppDeps, stored: readonly EnqueuedJob[]): void {
  const ours = stored.filter(({ queue }) => mayServe(deps, queue));
  const now = ours.filter(isDueAtOnce);
  pokeQueues(
    deps,
    now.map(({ queue }) => queue),
  );
  askWake(
    deps,
    ours.filter((job) => !isDueAtOnce(job)).map(({ dueAt }) => dueAt),
  );
  // More than a chain can run: the drain sends many pokes at once.
  const perQueue = Map.groupBy(now, ({ queue }) => queue);
  if ([...perQueue.values()].some((jobs) => jobs.length > MAX_CHAIN_JOBS)) askDrain(deps);
}

function isDueAtOnce({ dueAt, createdAt }: EnqueuedJob): boolean {
  return dueAt.getTime() - createdAt.getTime() <= DUE_AT_ONCE_MS;
}
