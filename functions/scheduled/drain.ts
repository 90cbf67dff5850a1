import {
  MAX_CONCURRENT_POKES,
  MAX_DRAIN_POKES,
  MAX_DRAIN_QUEUES,
  MAX_DRAIN_SETTLED_JOBS,
} from '../../shared/limits.ts';
import { inParallel } from '../../shared/in-parallel.ts';
import { dueQueues } from '../../shared/queue/due-queues.ts';
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
  /** Expired leases put back or declared dead in queues that this deployment does not serve. */
  readonly settled: number;
  readonly failedSettlements: number;
}

/**
 * The scheduled pass, and the net under every other wake-up: pokes for whatever is due, wide and shallow, and settles
 * expired leases where no handler here would ever meet them. Bounded in every direction, so that a pass ends; may run
 * beside itself, because a poke too many finds an empty queue and a lease is settled once.
 *
 * @throws {LeaseholdError} only when the database does not tell what is due
 */
export async function drain(
  deps: Pick<AppDeps, 'sql' | 'schema' | 'handlers' | 'poker' | 'log'>,
): Promise<DrainReport> {
  const { sql, handlers, poker, log } = deps;
  await ensureSchema(sql, deps.schema);
  const due = await dueQueues(sql, {
    limit: MAX_DRAIN_QUEUES,
    perQueue: MAX_DRAIN_POKES,
    served: handlers.queues,
  });
  const served = due.filter(({ queue }) => handlers.serves(queue));
  const left = due.filter(({ queue }) => !handlers.serves(queue));

  let settled = 0;
  const settlements = await inParallel(left, MAX_CONCURRENT_POKES, async ({ queue }) => {
    settled += (await settle(sql, { queue, limit: MAX_DRAIN_SETTLED_JOBS, actor: ACTOR })).settled;
  });
  const pokes = await inParallel(
    spreadPokes(served, MAX_DRAIN_POKES),
    MAX_CONCURRENT_POKES,
    (queue) => poker.send({ queue, depth: 0 }),
  );

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
