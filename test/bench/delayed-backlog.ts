import { closeAll, OURS } from './support/all-systems.ts';
import type { Bench } from './support/bench.ts';
import { emptyClaims } from './support/measure-work.ts';
import { interleave } from './support/rounds.ts';
import { median, percentile, ratio, spreadText } from './support/stats.ts';
import { openGraphile } from './support/systems/graphile-worker.ts';
import { openLeasehold } from './support/systems/leasehold.ts';
import { openPgBoss } from './support/systems/pg-boss.ts';
import type { QueueSystem } from './support/systems/queue-system.ts';

const DELAY_SECONDS = 86_400;
const NONE = 'none';
const DELAYED = 'delayed';

/** The same system twice: with nothing in it, and with jobs that are due tomorrow. */
interface Pair {
  readonly none: QueueSystem;
  readonly delayed: QueueSystem;
}

export const delayedBacklog: Bench<{ delayed: number; samples: number; repeats: number }> = {
  name: 'delayed-backlog',
  summary:
    'a claim that finds nothing, beside jobs that are not due yet, against none; all systems',
  full: { delayed: 1_000_000, samples: 200, repeats: 9 },
  short: { delayed: 30_000, samples: 40, repeats: 5 },
  run: async ({ server, progress }, { delayed, samples, repeats }) => {
    const open = (kind: string): Promise<QueueSystem>[] => [
      openLeasehold(server, 'two-call', { database: kind }),
      openGraphile(server, 'unbatched', { database: kind }),
      openPgBoss(server, { database: kind }),
    ];
    const without = await Promise.all(open(NONE));
    const beside = await Promise.all(open(DELAYED));
    try {
      const pairs = without.flatMap((none, index): Pair[] => {
        const other = beside[index];
        return other === undefined ? [] : [{ none, delayed: other }];
      });
      for (const { none, delayed: filled } of pairs) {
        progress.show(`${filled.name}: adding ${delayed} jobs that are due tomorrow`);
        await filled.fill(delayed, { delaySeconds: DELAY_SECONDS });
        await none.fill(0); // makes the queue where filling does that
        await none.settle();
        await filled.settle();
      }
      const rounds = await interleave(
        pairs.flatMap((pair) =>
          ([NONE, DELAYED] as const).map((kind) => ({
            name: `${pair.none.name}, ${kind}`,
            measure: () => emptyClaims(pair[kind], samples),
          })),
        ),
        { repeats, warmUps: 1, progress, what: 'empty claims' },
      );
      const p50s = (name: string, kind: string): readonly number[] =>
        (rounds.get(`${name}, ${kind}`) ?? []).map((taken) => median(taken));
      const p99s = (name: string, kind: string): readonly number[] =>
        (rounds.get(`${name}, ${kind}`) ?? []).map((taken) => percentile(taken, 99));
      const p50 = (name: string, kind: string): number => median(p50s(name, kind));
      const names = pairs.map(({ none }) => none.name);
      return {
        tables: [
          {
            title: `A claim that finds nothing, in ms: median of the rounds (min–max)`,
            columns: [
              'system',
              'p50, none',
              `p50, ${delayed} delayed`,
              'times',
              'p99, none',
              `p99, ${delayed} delayed`,
            ],
            rows: names.map((name) => [
              name,
              spreadText(p50s(name, NONE), 3),
              spreadText(p50s(name, DELAYED), 3),
              ratio(p50(name, DELAYED), p50(name, NONE)),
              spreadText(p99s(name, NONE), 3),
              spreadText(p99s(name, DELAYED), 3),
            ]),
          },
        ],
        targets: [
          {
            name: `delayed-backlog, ours beside ${delayed} delayed jobs, times none`,
            measured: ratio(p50(OURS, DELAYED), p50(OURS, NONE)),
            bound: 1.2,
            kind: 'most',
          },
        ],
        charts: [
          {
            kind: 'bar',
            title: 'Time of a claim that finds nothing',
            description: names
              .map(
                (name) =>
                  `${name}: ${p50(name, NONE).toFixed(2)} ms without, ${p50(name, DELAYED).toFixed(2)} ms beside ${delayed} delayed jobs.`,
              )
              .join(' '),
            x: { label: 'system' },
            y: { label: 'milliseconds (p50)' },
            series: [
              { name: 'nothing in the queue', kind: NONE },
              { name: `${delayed.toLocaleString('en-GB')} jobs due tomorrow`, kind: DELAYED },
            ].map(({ name, kind }) => ({
              name,
              points: names.map((system) => ({ x: system, y: p50(system, kind) })),
            })),
          },
        ],
      };
    } finally {
      await closeAll([...without, ...beside]);
    }
  },
};
