import { hunt, SEEDS_AFTER_SHOWN } from '../simulation/hunt.ts';
import { MUTATIONS } from '../simulation/mutations.ts';
import type { Experiment } from './experiment.ts';
import { simulationTemplate } from './simulation-ground.ts';

const SEEDS = 50;

export const mutations: Experiment = {
  name: 'mutations',
  summary: `${MUTATIONS.length} broken routines, one after another: each is shown by the history of a seed from 1 to ${SEEDS}; --short: from the one that is known to`,
  run: async (lab) => {
    const where = await simulationTemplate(lab);
    const width = Math.max(...MUTATIONS.map(({ name }) => name.length));
    const faults: string[] = [];
    lab.print(`  ${'what is broken'.padEnd(width)}  seed  the rule that it breaks`);
    for (const mutation of MUTATIONS) {
      lab.progress(mutation.name);
      const seeds = lab.short
        ? { from: mutation.shownBy, count: SEEDS_AFTER_SHOWN }
        : { from: 1, count: SEEDS };
      const caught = await hunt(mutation, where, seeds);
      const seed = String(caught?.seed ?? '-').padStart(4);
      lab.print(`  ${mutation.name.padEnd(width)}  ${seed}  ${mutation.rule}`);
      if (caught === undefined)
        faults.push(`${mutation.name}: ${seeds.count} seeds from ${seeds.from} on do not show it`);
    }
    return faults;
  },
};
