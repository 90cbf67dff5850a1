import {
  MAX_CONCURRENT_POKES,
  MAX_DRAIN_MS,
  MAX_DRAIN_POKES,
  MAX_DRAIN_QUEUES,
  MAX_DRAIN_SETTLED_JOBS,
  MAX_DRAIN_SETTLED_QUEUES,
} from '../../shared/limits.ts';
import { inParallel } from '../../shared/in-parallel.ts';
import type { EventFeed, PokeOutcome } from '../../shared/ports.ts';
import { dueQueues } from '../../shared/queue/due-queues.ts';
import type { DueQueue, DueWork } from '../../shared/queue/due-queues.ts';
import { settle } from '../../shared/queue/settle.ts';
import { spreadPokes } from '../../shared/spread-pokes.ts';
import { lookAgainAfterMs } from '../../shared/wake/look-again.ts';
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
 * The statement that tells what is due also tells when there will be more, and the wake clock is set for that before
 * anything is sent: a drain that is cut off is followed by another.
 *
 * @param signal stops before the next poke or settlement
 * @throws {Error} when the database does not tell what is due, or the wake clock does not take the next instant
 */
export async function drain(
  deps: Pick<
    AppDeps,
    'sql' | 'schema' | 'handlers' | 'poker' | 'wake' | 'clock' | 'random' | 'log'
  > & { readonly feed: EventFeed },
  signal?: AbortSignal,
): Promise<DrainReport> {
  const { sql, handlers, poker, wake, clock, random, log } = deps;
  await ensureSchema(sql, deps.schema);
  const work = await dueQueues(sql, {
    limit: MAX_DRAIN_QUEUES,
    perQueue: MAX_DRAIN_POKES + 1, // one more tells that there is more
    served: handlers.queues,
  });
  const startedAt = clock.now();
  const wakeInMs = nextWakeInMs(work);
  // A clock that does not take it holds nothing up: what is due is due.
  const unarmed =
    wakeInMs === undefined ? undefined : await failureOf(wake.wakeAt(startedAt + wakeInMs));
  const poked = work.queues.filter((queue) => isPoked(queue, handlers));
  const left = work.queues
    .filter((queue) => !isPoked(queue, handlers) && queue.expired > 0)
    .slice(0, MAX_DRAIN_SETTLED_QUEUES);

  let settled = 0;
  const settlements = await inParallel(left, MAX_CONCURRENT_POKES, async ({ queue }) => {
    signal?.throwIfAborted();
    const done = await settle(sql, { queue, limit: MAX_DRAIN_SETTLED_JOBS, actor: ACTOR });
    // Not in one expression: that would read the sum before the wait, and lose what others add meanwhile.
    settled += done.settled;
  });
  if (settled > 0) deps.feed.changed();
  const outcomes: Record<PokeOutcome, number> = { taken: 0, sent: 0, idle: 0, held: 0, failed: 0 };
  await inParallel(
    spreadPokes(poked, MAX_DRAIN_POKES, random.next()),
    MAX_CONCURRENT_POKES,
    async (queue) => {
      signal?.throwIfAborted();
      if (clock.now() - startedAt >= MAX_DRAIN_MS) return;
      outcomes[await poker.send({ queue, depth: 0, drain: true })] += 1;
    },
  );
  signal?.throwIfAborted();
  if (unarmed !== undefined) throw unarmed;
  const pokes = outcomes.taken + outcomes.sent + outcomes.idle;
  const due = poked.reduce((sum, queue) => sum + queue.due, 0);
  // There is work behind the work that was taken; without that, another look would find the same.
  if (outcomes.taken > 0 && due > pokes) await wake.wakeAt(clock.now());

  const report = {
    queues: work.queues.length,
    pokes,
    failedPokes: outcomes.failed + outcomes.held,
    settled,
    failedSettlements: settlements.rejected,
  };
  log.info('drained', {
    queues: report.queues,
    // What an alarm goes by; 0: nothing is due.
    oldest_due_seconds: Math.floor((oldestAgeMs(work) ?? 0) / 1000),
    pokes: report.pokes,
    failed_pokes: report.failedPokes,
    settled: report.settled,
    failed_settlements: report.failedSettlements,
  });
  return report;
}

async function failureOf(asked: Promise<void>): Promise<Error | undefined> {
  try {
    await asked;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error('The wake clock failed.', { cause: error });
  }
}

/** From the look at the database on, by its clock; undefined: nothing is due and nothing waits for a time. */
function nextWakeInMs(work: DueWork): number | undefined {
  const { nextAt, now } = work;
  const waits: number[] = [];
  // An instant read to the millisecond lies up to one before the real one.
  if (nextAt !== null) waits.push(nextAt.getTime() - now.getTime() + 1);
  const age = oldestAgeMs(work);
  if (age !== undefined) waits.push(lookAgainAfterMs(age));
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** How long the oldest due work has been due; undefined: nothing is. */
function oldestAgeMs({ queues, now }: DueWork): number | undefined {
  const oldest = Math.min(...queues.map(({ oldestDueAt }) => oldestDueAt.getTime()));
  return Number.isFinite(oldest) ? now.getTime() - oldest : undefined;
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
