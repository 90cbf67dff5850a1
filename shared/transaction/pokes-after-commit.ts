import { OUTBOX_POKE_QUEUE } from '../limits.ts';
import type { AppendedEvent } from '../outbox/new-event.ts';
import type { Poke, Poker } from '../ports.ts';
import type { EnqueuedJob } from '../queue/enqueued-job.ts';

export interface PokesAfterCommit {
  /** Notes the queues of jobs that were added; sends nothing. */
  add(jobs: readonly EnqueuedJob[]): void;
  /** Notes that there are events for the relay. */
  addEvents(events: readonly AppendedEvent[]): void;
  /**
   * Call it when the commit is done: sends one poke for each queue, and one for the relay where there are events, then
   * forgets them. Where all jobs are due later, the poke finds nothing, and the wake clock is set for the first. Never
   * rejects: the jobs are committed, and the drain finds what a poke did not reach.
   */
  committed(): Promise<void>;
}

/**
 * Keeps the pokes of a transaction until its commit. Sent before, a poke would find nothing, since nobody else sees the
 * job yet, and none would follow; and after a rollback it would have woken a worker and the database for no job at all.
 * When nobody knows whether the commit happened, poke too: it costs one empty claim at most.
 *
 * @example
 * const pokes = pokesAfterCommit(poker);
 * await db.transaction(async (tx) => {
 *   await tx.insert(orders).values(order);
 *   pokes.add(await enqueueIn(drizzleTransaction(tx, sql), [job], { actor: 'shop' }));
 * });
 * await pokes.committed();
 */
export function pokesAfterCommit(poker: Poker): PokesAfterCommit {
  const queues = new Set<string>();
  let hasEvents = false;
  return {
    add(jobs) {
      for (const { queue } of jobs) queues.add(queue);
    },
    addEvents(events) {
      hasEvents ||= events.length > 0;
    },
    async committed() {
      const waiting: Poke[] = [...queues].map((queue) => ({ queue, depth: 0 }));
      if (hasEvents) waiting.push({ queue: OUTBOX_POKE_QUEUE, depth: 0, relay: true });
      queues.clear();
      hasEvents = false;
      await Promise.allSettled(waiting.map(async (poke) => poker.send(poke)));
    },
  };
}
