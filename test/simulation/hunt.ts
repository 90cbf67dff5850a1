import type { Mutation } from './mutations.ts';
import { prepareGround, type GroundOptions } from './world/ground.ts';
import { runSeed } from './world/run-seed.ts';

/** Where a mutation was seen: the first fault against the rule that it breaks. */
export interface Caught {
  readonly seed: number;
  readonly text: string;
}

/** Postgres decides a few things by itself, so that a seed may miss what it showed before: then those after it are tried. */
export const SEEDS_AFTER_SHOWN = 15;

/** Runs seeds over mutated routines until a history breaks the mutation's rule; undefined when none of them does. */
export async function hunt(
  mutation: Mutation,
  where: Pick<GroundOptions, 'server' | 'template'>,
  seeds: { readonly from: number; readonly count: number },
): Promise<Caught | undefined> {
  const ground = await prepareGround({ ...where, ...mutation });
  try {
    for (let seed = seeds.from; seed < seeds.from + seeds.count; seed += 1) {
      const { faults } = await runSeed(ground, seed);
      const fault = faults.find(({ rule }) => rule === mutation.rule);
      if (fault !== undefined) return { seed, text: fault.text };
    }
    return undefined;
  } finally {
    await ground.drop();
  }
}
