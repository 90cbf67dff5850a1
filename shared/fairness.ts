/** A name and its share: 1 to 100, relative to the others. */
export interface Weighted {
  readonly name: string;
  readonly weight: number;
}

/**
 * Queues in the order in which one claim should try them: drawn at random without putting back, each draw in
 * proportion to the weights. Over many claims each queue that has work comes first as often as its weight says,
 * however deep the others are, and with no state between stateless callers.
 *
 * One random number a name: the smallest -ln(u)/weight is first, which is the same as drawing (Efraimidis and
 * Spirakis 2006).
 *
 * @param random a number in [0, 1), asked once a name
 * @example weightedOrder([{ name: 'a', weight: 3 }, { name: 'b', weight: 1 }], random.next) // mostly ['a', 'b']
 */
export function weightedOrder(queues: readonly Weighted[], random: () => number): string[] {
  return queues
    .map(({ name, weight }) => ({ name, rank: -Math.log(1 - random()) / weight }))
    .toSorted((left, right) => left.rank - right.rank)
    .map(({ name }) => name);
}
