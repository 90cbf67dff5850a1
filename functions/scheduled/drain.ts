import {
  MAX_CONCURRENT_POKES,
  MAX_DRAIN_POKES,
  MAX_DRAIN_QUEUES,
  MAX_DRAIN_SETTLED_JOBS,
  MAX_DRAIN_SETTLED_QUEUES,
} from '../../shared/limits.ts';
import { inParallel } from '../../shared/in-parallel.ts';
import { dueQueues } from '../../shared/queue/due-queues.ts';
import type { DueQueue } from '../../shared/queue/due-queues.ts';
import { settle } from '../../shared/queue/settle.ts';
import { spreadPokes } from '../../shared/spread-pokes.ts';
import type { AppDeps } from '../deps.ts';
import { ensureSchema } from '../schema-gate.ts';

const ACTOR = 'drain';

/** What one drain did. */
export interface DrainReport {
  /** Queues with due work that this deployment serves, or with expired leases; at most `MAX_DRAIN_QUEUES`. */
  readonly queues: number;
  readonly pokes: number;
  readonly failedPokes: number;
  /** Expired leases put back or declared dead in queues that nobody here claims from. */
  readonly settled: number;
  readonly failedSettlements: number;
}

/**
 * The net under every other wake-up: pokes for whatever is due, wide and shallow, each queue by its weight, and settles
 * expired leases where no claim of this deployment would ever meet them: in queues that others pull from, and in those
 * it has no handler for. Paused and resting queues are left alone. Bounded in every direction, so that a pass ends; may
 * run beside itself, because a poke too many finds an empty queue and a lease is settled once.
 *
 * @param signal stops before the next poke or settlement
 * @throws {LeaseholdError} only when the database does not tell what is due
 */
export async function drain(
  deps: Pick<AppDeps, 'sql' | 'schema' | 'handlers' | 'poker' | 'random' | 'log'>,
  signal?: AbortSignal,
): Promise<DrainReport> {
  const { sql, handlers, poker, random, log } = deps;
  await ensureSchema(sql, deps.schema);
  const due = await dueQueues(sql, {
    limit: MAX_DRAIN_QUEUES,
    perQueue: MAX_DRAIN_POKES,
    served: handlers.queues,
  });
  const poked = due.filter((queue) => isPoked(queue, handlers));
  const left = due
    .filter((queue) => !isPoked(queue, handlers) && queue.expired > 0)
    .slice(0, MAX_DRAIN_SETTLED_QUEUES);

  let settled = 0;
  const settlements = await inParallel(left, MAX_CONCURRENT_POKES, async ({ queue }) => {
    signal?.throwIfAborted();
    const done = await settle(sql, { queue, limit: MAX_DRAIN_SETTLED_JOBS, actor: ACTOR });
    // Not in one expression: that would read the sum before the wait, and lose what others add meanwhile.
    settled += done.settled;
  });
  const pokes = await inParallel(
    spreadPokes(poked, MAX_DRAIN_POKES, random.next()),
    MAX_CONCURRENT_POKES,
    async (queue) => {
      signal?.throwIfAborted();
      if ((await poker.send({ queue, depth: 0 })) === 'failed') throw new Error('The poke failed.');
    },
  );
  signal?.throwIfAborted();

  log.info('drained', {
    queues: due.length,
    pokes: pokes.fulfilled,
    failed_pokes: pokes.rejected,
    settled,
    failed_settlements: settlements.rejected,
  });
  return {
    queues: due.length,
    pokes: pokes.fulfilled,
    failedPokes: pokes.rejected,
    settled,
    failedSettlements: settlements.rejected,
  };
}

/** Whether `/v1/work` would do something for it: push its jobs, or run them here. Who pulls asks by itself. */
function isPoked({ queue, delivery }: DueQueue, handlers: AppDeps['handlers']): boolean {
  switch (delivery) {
    case 'push':
      return true;
    case 'handler':
      return handlers.serves(queue);
    case 'pull':
      return false;
  }
}
