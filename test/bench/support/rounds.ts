import type { Progress } from './progress.ts';

/** One of the things compared; `measure` is called once a round. */
export interface Variant<T> {
  readonly name: string;
  measure(): Promise<T>;
}

export interface RoundsOptions {
  /** Rounds that count: at least three for a figure that is published. */
  readonly repeats: number;
  /** Rounds before them, whose results are thrown away. */
  readonly warmUps: number;
  readonly progress: Progress;
  readonly what: string;
}

/**
 * Measures A, B, A, B, … so that a machine that slows down slows all of them alike.
 *
 * @returns the results of the rounds that count, by the name of the variant, in order.
 */
export async function interleave<T>(
  variants: readonly Variant<T>[],
  { repeats, warmUps, progress, what }: RoundsOptions,
): Promise<ReadonlyMap<string, readonly T[]>> {
  const results = new Map<string, T[]>(variants.map(({ name }) => [name, []]));
  for (let round = -warmUps; round < repeats; round += 1) {
    const label = round < 0 ? 'warm-up' : `round ${round + 1} of ${repeats}`;
    for (const { name, measure } of variants) {
      progress.show(`${what}: ${label}, ${name}`);
      const result = await measure();
      if (round >= 0) results.get(name)?.push(result);
    }
  }
  return results;
}
