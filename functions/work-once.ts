import { getQueue } from '../shared/queue/get-queue.ts';
import type { AppDeps } from './deps.ts';
import { handleJobs } from './handle-jobs.ts';
import type { HandleJobsInput } from './handle-jobs.ts';
import { pushOnce } from './push-once.ts';
import type { WorkOutcome } from './work-outcome.ts';

/**
 * What one poke does: runs a job of the queue to its end, or pushes it when that is how the queue's jobs are delivered.
 *
 * A queue that has handlers in this deployment is served by them; only for another one is the database asked.
 */
export async function workOnce(deps: AppDeps, input: HandleJobsInput): Promise<WorkOutcome> {
  const { handlers, sql } = deps;
  if (handlers.serves(input.queue)) return await handleJobs(deps, input);
  const queue = await getQueue(sql, { queue: input.queue });
  if (queue?.delivery !== 'push' || queue.target_url === null) return { outcome: 'no_handler' };
  return await pushOnce(deps, {
    queue: queue.name,
    targetUrl: queue.target_url,
    leaseSeconds: queue.lease_seconds,
    invocationEndsAt: input.invocationEndsAt,
  });
}
