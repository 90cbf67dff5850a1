import { closeAll, GRAPHILE, openAll, OURS, OURS_FUSED, PG_BOSS } from './support/all-systems.ts';
import type { Bench, BenchResult } from './support/bench.ts';
import { backlogFor, measureWork, topUp } from './support/measure-work.ts';
import { interleave } from './support/rounds.ts';
import { perJob, readCosts, resetCosts, type StatementCosts } from './support/statement-costs.ts';
import { median, ratio, spreadText } from './support/stats.ts';

const TARGET_CLIENTS = 8;
const RAMP_SECONDS = 0.3;

/** By system, then by number of clients. */
type Rates = ReadonlyMap<string, ReadonlyMap<number, readonly number[]>>;
/** By system, at the largest number of clients. */
type Costs = ReadonlyMap<string, StatementCosts>;

export const burnDown: Bench<{
  clients: readonly number[];
  seconds: number;
  repeats: number;
  backlog: number;
}> = {
  name: 'burn-down',
  summary: 'claim and complete, one job a call: jobs a second by number of clients, all systems',
  full: { clients: [1, 2, 4, 8, 16], seconds: 10, repeats: 3, backlog: 20_000 },
  short: { clients: [8], seconds: 1, repeats: 3, backlog: 2_000 },
  run: async ({ server, progress }, { clients, seconds, repeats, backlog }) => {
    const systems = await openAll(server);
    const rates = new Map(systems.map(({ name }) => [name, new Map<number, readonly number[]>()]));
    const costs = new Map<string, StatementCosts>();
    const last = new Map<string, number>();
    try {
      for (const count of clients) {
        const window = { clients: count, rampSeconds: RAMP_SECONDS, seconds };
        const rounds = await interleave(
          systems.map((system) => ({
            name: system.name,
            measure: async () => {
              await topUp(system, backlogFor(window, last.get(system.name), backlog));
              if (server.countsStatements) await resetCosts(system.database);
              const { rate, allJobs } = await measureWork(system, window);
              last.set(system.name, rate);
              if (server.countsStatements) {
                costs.set(system.name, perJob(await readCosts(system.database), allJobs));
              }
              return rate;
            },
          })),
          { repeats, warmUps: 1, progress, what: `${count} clients` },
        );
        for (const [name, measured] of rounds) rates.get(name)?.set(count, measured);
      }
      return report(clients, rates, costs);
    } finally {
      await closeAll(systems);
    }
  },
};

function report(clients: readonly number[], rates: Rates, costs: Costs): BenchResult {
  const at = clients.includes(TARGET_CLIENTS) ? TARGET_CLIENTS : (clients.at(-1) ?? 1);
  const rate = (name: string, count = at): number => median(rates.get(name)?.get(count) ?? []);
  const names = [...rates.keys()];
  return {
    tables: [
      {
        title: 'Jobs a second, median (min–max), by number of clients',
        columns: ['system', ...clients.map(String)],
        rows: names.map((name) => [
          name,
          ...clients.map((count) => spreadText(rates.get(name)?.get(count) ?? [])),
        ]),
      },
      {
        title: 'Ours, two calls a job, times the other',
        columns: ['system', ...clients.map(String)],
        rows: names
          .filter((name) => name !== OURS)
          .map((name) => [name, ...clients.map((of) => ratio(rate(OURS, of), rate(name, of)))]),
      },
      {
        title: `A job at ${clients.at(-1)} clients, by pg_stat_statements: independent of the machine, but for the time`,
        columns: ['system', 'statements', 'WAL bytes', 'buffers', 'ms in the database'],
        rows: [...costs].map(([name, cost]) => [
          name,
          cost.statements,
          cost.walBytes,
          cost.buffers,
          cost.milliseconds,
        ]),
      },
    ],
    targets: [
      {
        name: `burn-down, ours at ${at} clients, times graphile-worker unbatched`,
        measured: ratio(rate(OURS), rate(GRAPHILE)),
        bound: 1.3,
        kind: 'least',
      },
      {
        name: `burn-down, ours at ${at} clients, times pg-boss`,
        measured: ratio(rate(OURS), rate(PG_BOSS)),
        bound: 3,
        kind: 'least',
      },
      {
        name: `burn-down, fused at ${at} clients, times our two-call form`,
        measured: ratio(rate(OURS_FUSED), rate(OURS)),
        bound: 1.25,
        kind: 'least',
      },
    ],
    charts: [
      {
        kind: 'bar',
        title: 'Jobs a second, claimed and completed one at a time',
        description: `At ${at} clients: ${names.map((name) => `${name} ${Math.round(rate(name))}`).join(', ')} jobs a second.`,
        x: { label: 'clients' },
        y: { label: 'jobs a second' },
        series: names.map((name) => ({
          name,
          points: clients.map((count) => ({ x: String(count), y: rate(name, count) })),
        })),
      },
    ],
    notes: [
      'graphile-worker does not wait for a completion before its next claim, and its pool has two connections more than clients, as its documentation asks.',
    ],
  };
}
