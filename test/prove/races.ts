import { CLAIM_WAYS, runClaimExperiment } from '../races/claim-experiment.ts';
import type { Experiment } from './experiment.ts';

const EXPECTED = { 'select, then update': [24, 0], 'for update': [0, 12], 'skip locked': [0, 0] };

export const races: Experiment = {
  name: 'races',
  summary: '4 claimers, 8 jobs: duplicates and waiting with three ways to claim (S3.1)',
  run: async ({ pool, print }) => {
    const faults: string[] = [];
    for (const way of CLAIM_WAYS) {
      const found = await runClaimExperiment(pool, way);
      print('');
      print(`${way}`);
      print('  job         1  2  3  4  5  6  7  8');
      print(`  executions  ${found.executions.join('  ')}`);
      print(`  ${found.duplicates} duplicate executions, ${found.waits} waits for another claimer`);
      const [duplicates, waits] = EXPECTED[way];
      if (found.duplicates !== duplicates) faults.push(`${way}: expected ${duplicates} duplicates`);
      if (found.waits !== waits) faults.push(`${way}: expected ${waits} waits`);
    }
    return faults;
  },
};
