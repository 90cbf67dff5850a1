import { fuzz as sendFuzz } from '../routes/support/fuzz.ts';
import type { Experiment } from './experiment.ts';

const REQUESTS = 20_000;
const SHORT_REQUESTS = 2000;
const SEED = 1_130_2026;

export const fuzz: Experiment = {
  name: 'fuzz',
  summary:
    '20,000 malformed requests over all routes: no 5xx, no hang, nothing written; --short: 2,000',
  run: async ({ pool, sql, short, print, progress }) => {
    const requests = short ? SHORT_REQUESTS : REQUESTS;
    const { statuses, fault } = await sendFuzz({
      sql,
      pool,
      seed: SEED,
      requests,
      onRequest: (count) => {
        if (count % 100 === 0) progress(`${count} of ${requests} requests sent`);
      },
    });
    for (const [status, count] of [...statuses].toSorted(([left], [right]) => left - right)) {
      print(`  ${String(count).padStart(8)}  answers with status ${status}`);
    }
    return fault === undefined ? [] : [fault];
  },
};
