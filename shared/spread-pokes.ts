export interface WaitingQueue {
  readonly queue: string;
  /** Jobs that could be claimed now. */
  readonly due: number;
  /** Share, 1 and up. */
  readonly weight: number;
}

/**
 * Spreads a bounded number of pokes over queues by weight. Shares are seldom whole numbers, so places are dealt at even
 * distances along the weights, from a start that the caller draws anew each time: a queue gets its share rounded down or
 * up, and over many passes exactly its share, with nothing remembered in between. What a queue cannot use goes to the
 * others, so that a flood fills idle places but takes none from anybody.
 *
 * @param queues in order of preference
 * @param limit pokes in all
 * @param start where dealing starts, in [0, 1)
 * @returns queue names, one a poke, in the order of sending: each queue once before any comes a second time
 * @example spreadPokes([{ queue: 'a', due: 9, weight: 3 }, { queue: 'b', due: 9, weight: 1 }], 4, 0) // a b a a
 */
export function spreadPokes(
  queues: readonly WaitingQueue[],
  limit: number,
  start: number,
): string[] {
  const pokes = new Map<WaitingQueue, number>();
  let left = limit;
  for (let open = queues.filter(({ due }) => due > 0); left > 0 && open.length > 0;) {
    for (const [queue, share] of deal(open, left, start)) {
      const given = Math.min(share, queue.due - (pokes.get(queue) ?? 0));
      pokes.set(queue, (pokes.get(queue) ?? 0) + given);
      left -= given;
    }
    open = open.filter((queue) => (pokes.get(queue) ?? 0) < queue.due);
  }
  return inRounds(queues, pokes);
}

/** How many of `count` evenly spaced places fall into each queue's stretch of the weights laid end to end. */
function deal(
  queues: readonly WaitingQueue[],
  count: number,
  start: number,
): [queue: WaitingQueue, share: number][] {
  const total = queues.reduce((sum, { weight }) => sum + weight, 0);
  const placesBefore = (weight: number): number => Math.ceil((weight * count) / total - start);
  let reached = 0;
  return queues.map((queue) => {
    const from = placesBefore(reached);
    reached += queue.weight;
    return [queue, placesBefore(reached) - from];
  });
}

function inRounds(
  queues: readonly WaitingQueue[],
  pokes: ReadonlyMap<WaitingQueue, number>,
): string[] {
  const order: string[] = [];
  let waiting = [...queues];
  for (let round = 1; waiting.length > 0; round += 1) {
    waiting = waiting.filter((queue) => (pokes.get(queue) ?? 0) >= round);
    order.push(...waiting.map(({ queue }) => queue));
  }
  return order;
}
