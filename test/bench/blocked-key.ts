import { closeAll, GRAPHILE, OURS } from './support/all-systems.ts';
import type { Bench } from './support/bench.ts';
import { backlogFor, measureWork, topUp } from './support/measure-work.ts';
import { interleave } from './support/rounds.ts';
import { median, ratio, spreadText } from './support/stats.ts';
import { openGraphile } from './support/systems/graphile-worker.ts';
import { openLeasehold } from './support/systems/leasehold.ts';
import type { QueueSystem } from './support/systems/queue-system.ts';

const RAMP_SECONDS = 0.3;
const FREE = 'free alone';
const BESIDE = 'beside blocked';

export const blockedKey: Bench<{
  blocked: number;
  free: number;
  clients: number;
  seconds: number;
  repeats: number;
}> = {
  name: 'blocked-key',
  summary:
    'jobs a second of free jobs beside jobs of one blocked key, against without; graphile-worker by named queue',
  full: { blocked: 100_000, free: 50_000, clients: 8, seconds: 10, repeats: 3 },
  short: { blocked: 20_000, free: 2_000, clients: 8, seconds: 1, repeats: 3 },
  run: async ({ server, progress }, { blocked, free, clients, seconds, repeats }) => {
    const open = async (database: string): Promise<QueueSystem[]> => [
      await openLeasehold(server, 'two-call', { database }),
      await openGraphile(server, 'unbatched', { database }),
    ];
    const alone = await open('free');
    const beside = await open('blocked');
    try {
      for (const system of beside) {
        progress.show(`${system.name}: adding ${blocked} jobs of one key`);
        await system.blockKey?.(blocked);
      }
      const window = { clients, rampSeconds: RAMP_SECONDS, seconds };
      const last = new Map<string, number>();
      const variant = (kind: string) => (system: QueueSystem) => {
        const name = `${system.name}, ${kind}`;
        const measure = async (): Promise<number> => {
          await topUp(system, backlogFor(window, last.get(name), free));
          const { rate } = await measureWork(system, window);
          last.set(name, rate);
          return rate;
        };
        return { name, measure };
      };
      // Ours without and with, then theirs: the two that are compared run one after the other.
      const variants = alone.flatMap((system, index) => {
        const other = beside[index];
        return [variant(FREE)(system), ...(other === undefined ? [] : [variant(BESIDE)(other)])];
      });
      const rounds = await interleave(variants, {
        repeats,
        warmUps: 1,
        progress,
        what: 'free jobs',
      });
      const rates = (name: string, kind: string): readonly number[] =>
        rounds.get(`${name}, ${kind}`) ?? [];
      const share = (name: string): number =>
        ratio(median(rates(name, BESIDE)), median(rates(name, FREE)));
      const names = alone.map(({ name }) => name);
      return {
        tables: [
          {
            title: `Free jobs a second with ${clients} clients: median (min–max)`,
            columns: ['system', FREE, `beside ${blocked} blocked`, 'kept'],
            rows: names.map((name) => [
              name,
              spreadText(rates(name, FREE)),
              spreadText(rates(name, BESIDE)),
              share(name),
            ]),
          },
        ],
        targets: [
          {
            name: `blocked-key, ours beside ${blocked} jobs of one blocked key, of the rate without`,
            measured: share(OURS),
            bound: 0.95,
            kind: 'least',
          },
        ],
        charts: [
          {
            kind: 'bar',
            title: `Rate of free jobs beside ${blocked.toLocaleString('en-GB')} jobs of one blocked key`,
            description: `Beside the blocked jobs, Leasehold keeps ${percent(share(OURS))} of its rate without them, graphile-worker ${percent(share(GRAPHILE))}.`,
            x: { label: 'system' },
            y: { label: 'free jobs a second' },
            series: [
              { name: 'no blocked key', kind: FREE },
              { name: 'one blocked key', kind: BESIDE },
            ].map(({ name, kind }) => ({
              name,
              points: names.map((system) => ({ x: system, y: median(rates(system, kind)) })),
            })),
          },
        ],
        notes: [
          'The key is blocked by a job of it that runs all the time; with graphile-worker all of them are in one named queue.',
        ],
      };
    } finally {
      await closeAll([...alone, ...beside]);
    }
  },
};

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
