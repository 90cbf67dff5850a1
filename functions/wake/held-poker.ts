import {
  MAX_POKES_IN_FLIGHT,
  MAX_POKES_IN_FLIGHT_PER_QUEUE,
  POKE_TIMEOUT_MS,
} from '../../shared/limits.ts';
import type { Clock, Poker } from '../../shared/ports.ts';

/** Pokes on their way from this isolate: what they are for, and since when. */
export type PokesInFlight = Set<{ readonly queue: string; readonly since: number }>;

/**
 * A poker that holds pokes back when enough are on their way from its isolate, so that thousands of enqueues in a second do
 * not become thousands of runs at a time in one process; a queue cannot take all places. Whoever finds a poke held leaves
 * the work to the drain.
 *
 * @param inFlight kept between requests. A request that is cut off never takes its poke out, so each counts for as long as
 *   a poke can take, and no longer
 */
export function createHeldPoker(
  poker: Poker,
  { clock, inFlight }: { readonly clock: Clock; readonly inFlight: PokesInFlight },
): Poker {
  return {
    async send(poke) {
      const since = clock.now();
      for (const one of inFlight) if (since - one.since > POKE_TIMEOUT_MS) inFlight.delete(one);
      if (inFlight.size >= MAX_POKES_IN_FLIGHT) return 'held';
      const ofQueue = [...inFlight].filter(({ queue }) => queue === poke.queue);
      if (ofQueue.length >= MAX_POKES_IN_FLIGHT_PER_QUEUE) return 'held';
      const one = { queue: poke.queue, since };
      inFlight.add(one);
      try {
        return await poker.send(poke);
      } finally {
        inFlight.delete(one);
      }
    },
  };
}
