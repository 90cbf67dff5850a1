/**
 * Spreads a bounded number of pokes over queues, round robin: each queue gets one before any gets a second, so that a
 * deep queue cannot keep the others waiting.
 *
 * @param queues in order of preference, with the number of jobs that are due
 * @param limit pokes in all
 * @returns queue names, one a poke, in the order of sending
 * @example spreadPokes([{ queue: 'a', due: 3 }, { queue: 'b', due: 1 }], 3) // ['a', 'b', 'a']
 */
export function spreadPokes(
  queues: readonly { readonly queue: string; readonly due: number }[],
  limit: number,
): string[] {
  const pokes: string[] = [];
  for (let round = 1; pokes.length < limit; round += 1) {
    const waiting = queues.filter(({ due }) => due >= round);
    if (waiting.length === 0) break;
    pokes.push(...waiting.slice(0, limit - pokes.length).map(({ queue }) => queue));
  }
  return pokes;
}
