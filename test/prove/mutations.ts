import { hunt } from '../simulation/hunt.ts';
import { MUTATIONS } from '../simulation/mutations.ts';
import type { Experiment } from './experiment.ts';
import { simulationTemplate } from './simulation-ground.ts';

const SEEDS = 50;

export const mutations: Experiment = {
  name: 'mutations',
  summary: `${MUTATIONS.length} broken routines, one after another: each is shown by the history of a seed from 1 to ${SEEDS}`,
  run: async (lab) => {
    const where = await simulationTemplate(lab);
    const width = Math.max(...MUTATIONS.map(({ name }) => name.length));
    const faults: string[] = [];
    lab.print(`  ${'what is broken'.padEnd(width)}  seed  the rule that it breaks`);
    for (const mutation of MUTATIONS) {
      lab.progress(mutation.name);
      const caught = await hunt(mutation, where, { from: 1, count: SEEDS });
      const seed = String(caught?.seed ?? '-').padStart(4);
      lab.print(`  ${mutation.name.padEnd(width)}  ${seed}  ${mutation.rule}`);
      if (caught === undefined)
        faults.push(`${mutation.name}: no seed from 1 to ${SEEDS} shows it`);
    }
    return faults;
  },
};
