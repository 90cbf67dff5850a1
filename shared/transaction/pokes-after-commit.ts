import type { Poker } from '../ports.ts';
import type { EnqueuedJob } from '../queue/enqueued-job.ts';

export interface PokesAfterCommit {
  /** Notes the queues of jobs that were added; sends nothing. */
  add(jobs: readonly EnqueuedJob[]): void;
  /**
   * Call it when the commit is done: sends one poke for each queue, then forgets them. Where all jobs are due later, the
   * poke finds nothing, and the wake clock is set for the first. Never rejects: the jobs are committed, and the drain finds
   * what a poke did not reach.
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
  return {
    add(jobs) {
      for (const { queue } of jobs) queues.add(queue);
    },
    async committed() {
      const waiting = [...queues];
      queues.clear();
      await Promise.allSettled(waiting.map(async (queue) => poker.send({ queue, depth: 0 })));
    },
  };
}
