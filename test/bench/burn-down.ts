import type { Bench, BenchResult } from './support/bench.ts';
import { measureWork } from './support/measure-work.ts';
import { interleave } from './support/rounds.ts';
import { ratio, spread } from './support/stats.ts';
import { openGraphile } from './support/systems/graphile-worker.ts';
import { hasFused, openLeasehold } from './support/systems/leasehold.ts';
import { openPgBoss } from './support/systems/pg-boss.ts';
import type { QueueSystem } from './support/systems/queue-system.ts';

const TARGET_CLIENTS = 8;

export const burnDown: Bench<{
  clients: readonly number[];
  seconds: number;
  repeats: number;
  backlog: number;
}> = {
  name: 'burn-down',
  summary: 'claim and complete, one job a call, jobs a second by number of clients; all systems',
  full: { clients: [1, 2, 4, 8, 16], seconds: 10, repeats: 3, backlog: 100_000 },
  short: { clients: [8], seconds: 1, repeats: 3, backlog: 8_000 },
  run: async ({ server, progress }, { clients, seconds, repeats, backlog }) => {
    const systems = new Map<string, QueueSystem>();
    const add = (system: QueueSystem): void => void systems.set(system.name, system);
    try {
      const twoCall = await openLeasehold(server, 'two-call');
      add(twoCall);
      const fused = await openLeasehold(server, 'fused');
      if (await hasFused(fused.database)) add(fused);
      else await fused.close();
      add(await openGraphile(server, 'unbatched'));
      add(await openGraphile(server, 'batched'));
      add(await openPgBoss(server));
      const rates = new Map<string, Map<number, readonly number[]>>();
      for (const count of clients) {
        const rounds = await interleave(
          [...systems.values()].map((system) => ({
            name: system.name,
            measure: async () => {
              await system.fill(Math.max(0, backlog - (await system.pending())));
              await system.settle();
              return measureWork(system, { clients: count, rampSeconds: 0.5, seconds });
            },
          })),
          { repeats, warmUps: 1, progress, what: `${count} clients` },
        );
        for (const [name, measures] of rounds) {
          const of = rates.get(name) ?? new Map<number, readonly number[]>();
          of.set(
            count,
            measures.map(({ rate }) => rate),
          );
          rates.set(name, of);
        }
      }
      return report(clients, rates);
    } finally {
      for (const system of systems.values()) await system.close();
    }
  },
};

function report(
  clients: readonly number[],
  rates: ReadonlyMap<string, ReadonlyMap<number, readonly number[]>>,
): BenchResult {
  const at = clients.includes(TARGET_CLIENTS) ? TARGET_CLIENTS : (clients.at(-1) ?? 1);
  const medianOf = (name: string): number => spread(rates.get(name)?.get(at) ?? []).median;
  const ours = medianOf('Leasehold, two-call');
  return {
    tables: [
      {
        title: 'Jobs a second: median (min–max)',
        columns: ['system', ...clients.map((count) => `${count} clients`)],
        rows: [...rates].map(([name, of]) => [
          name,
          ...clients.map((count) => {
            const { median, min, max } = spread(of.get(count) ?? []);
            return `${Math.round(median)} (${Math.round(min)}–${Math.round(max)})`;
          }),
        ]),
      },
    ],
    targets: [
      {
        name: `ours at ${at} clients, times graphile-worker unbatched`,
        measured: ratio(ours, medianOf('graphile-worker, unbatched')),
        bound: 1.3,
        kind: 'least',
      },
      {
        name: `ours at ${at} clients, times pg-boss`,
        measured: ratio(ours, medianOf('pg-boss')),
        bound: 3,
        kind: 'least',
      },
      {
        name: `fused at ${at} clients, times our two-call form`,
        measured: ratio(medianOf('Leasehold, fused'), ours),
        bound: 1.25,
        kind: 'least',
      },
    ],
  };
}
