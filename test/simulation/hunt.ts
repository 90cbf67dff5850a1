import type { Mutation } from './mutations.ts';
import { prepareGround, type GroundOptions } from './world/ground.ts';
import { runSeed } from './world/run-seed.ts';

/** Where a mutation was seen. */
export interface Caught {
  readonly seed: number;
  readonly rule: string;
  readonly text: string;
}

/** Runs seeds over mutated routines until a history shows it; undefined when none of them does. */
export async function hunt(
  mutation: Mutation,
  where: Pick<GroundOptions, 'server' | 'template'>,
  seeds: { readonly from: number; readonly count: number },
): Promise<Caught | undefined> {
  const { faults, statements } = mutation;
  const ground = await prepareGround({
    ...where,
    faults,
    ...(statements !== undefined && { statements }),
  });
  try {
    for (let seed = seeds.from; seed < seeds.from + seeds.count; seed += 1) {
      const { faults: seen } = await runSeed(ground, seed);
      // What the log and the tables tell comes before an error that somebody met on the way.
      const [fault] = seen;
      if (fault !== undefined) return { seed, ...fault };
    }
    return undefined;
  } finally {
    await ground.drop();
  }
}
