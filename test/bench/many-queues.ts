import { uuidv7 } from 'uuidv7';
import type { Bench } from './support/bench.ts';
import type { BenchDatabase } from './support/bench-database.ts';
import { closeAll } from './support/all-systems.ts';
import { fillDue, fillQueues } from './support/fill-leasehold.ts';
import { interleave } from './support/rounds.ts';
import { median, percentile, ratio, spreadText } from './support/stats.ts';
import { openLeasehold } from './support/systems/leasehold.ts';

const ONE = 'one queue';
const MANY = 'many queues';

export const manyQueues: Bench<{
  queues: number;
  each: number;
  samples: number;
  repeats: number;
}> = {
  name: 'many-queues',
  summary:
    'one claim from one of many queues, taken at random, against the same jobs in one queue; ours',
  full: { queues: 10_000, each: 100, samples: 1_000, repeats: 9 },
  short: { queues: 1_000, each: 10, samples: 100, repeats: 7 },
  run: async ({ server, progress }, { queues, each, samples, repeats }) => {
    const single = await openLeasehold(server, 'two-call', { database: 'one_queue' });
    const spread = await openLeasehold(server, 'two-call', { database: 'many_queues' });
    const names = Array.from({ length: queues }, (_, index) => `bench-${index}`);
    try {
      progress.show(`adding ${queues * each} jobs to one queue, and to ${queues}`);
      await fillDue(single.database, { queue: 'bench-0', count: queues * each });
      await fillQueues(spread.database, names, each);
      await single.settle();
      await spread.settle();
      const rounds = await interleave(
        [
          { name: ONE, measure: () => claims(single.database, names.slice(0, 1), samples) },
          { name: MANY, measure: () => claims(spread.database, names, samples) },
        ],
        { repeats, warmUps: 1, progress, what: `${samples} claims` },
      );
      const p50s = (name: string): readonly number[] =>
        (rounds.get(name) ?? []).map((taken) => median(taken));
      const p99s = (name: string): readonly number[] =>
        (rounds.get(name) ?? []).map((taken) => percentile(taken, 99));
      return {
        tables: [
          {
            title: `One claim in ms, ${queues * each} due jobs: median of the rounds (min–max)`,
            columns: ['', 'p50', 'p99'],
            rows: [
              [ONE, spreadText(p50s(ONE), 3), spreadText(p99s(ONE), 3)],
              [`${queues} queues`, spreadText(p50s(MANY), 3), spreadText(p99s(MANY), 3)],
            ],
          },
        ],
        targets: [
          {
            name: `many-queues, a claim from one of ${queues}, times from one queue`,
            measured: ratio(median(p50s(MANY)), median(p50s(ONE))),
            bound: 1.2,
            kind: 'most',
          },
        ],
        charts: [
          {
            kind: 'bar',
            title: `Time of one claim: ${queues.toLocaleString('en-GB')} queues against one`,
            description: `p50 ${median(p50s(MANY)).toFixed(2)} ms against ${median(p50s(ONE)).toFixed(2)} ms, p99 ${median(p99s(MANY)).toFixed(2)} ms against ${median(p99s(ONE)).toFixed(2)} ms.`,
            x: { label: 'of the claims' },
            y: { label: 'milliseconds' },
            series: [ONE, MANY].map((name) => ({
              name,
              points: [
                { x: 'p50', y: median(p50s(name)) },
                { x: 'p99', y: median(p99s(name)) },
              ],
            })),
          },
        ],
      };
    } finally {
      await closeAll([single, spread]);
    }
  },
};

/** How long each of `samples` claims took; each job is completed after it. */
async function claims(
  database: BenchDatabase,
  queues: readonly string[],
  samples: number,
): Promise<readonly number[]> {
  const client = await database.connect();
  const taken: number[] = [];
  try {
    for (let sample = 0; sample < samples; sample += 1) {
      const queue = queues[Math.floor(Math.random() * queues.length)];
      const begun = performance.now();
      const { rows } = await client.query<{ job_id: string; fencing_token: string }>(
        'select * from leasehold.claim($1, $2, $3)',
        [queue, 'bench', uuidv7()],
      );
      const ms = performance.now() - begun;
      const [job] = rows;
      if (job === undefined) continue; // this queue has none left
      taken.push(ms);
      await client.query('select * from leasehold.complete($1, $2, $3)', [
        job.job_id,
        'bench',
        job.fencing_token,
      ]);
    }
    return taken;
  } finally {
    await client.end();
  }
}
