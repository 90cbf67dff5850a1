import { closeAll, GRAPHILE, OURS, PG_BOSS } from './support/all-systems.ts';
import type { Bench } from './support/bench.ts';
import { backlogFor, measureWork, topUp } from './support/measure-work.ts';
import { interleave } from './support/rounds.ts';
import { median, percentile, ratio, spreadText } from './support/stats.ts';
import { openGraphile } from './support/systems/graphile-worker.ts';
import { openLeasehold } from './support/systems/leasehold.ts';
import { openPgBoss } from './support/systems/pg-boss.ts';

interface Round {
  readonly rate: number;
  /** Claims that found nothing while work was due, of all claims. */
  readonly falseEmpty: number;
  readonly claimP99: number;
}

/** Every connection runs its first statements in the ramp: it plans them, and the processors are few. */
const RAMP_SECONDS_A_CLIENT = 1 / 32;
const LEAST_RAMP_SECONDS = 0.5;

export const claimers: Bench<{
  clients: readonly number[];
  seconds: number;
  repeats: number;
  backlog: number;
}> = {
  name: 'claimers',
  summary:
    'one to many connections that claim and complete single jobs: rate, and claims that find nothing while work is due',
  full: { clients: [1, 4, 16, 64, 128, 256], seconds: 8, repeats: 3, backlog: 20_000 },
  short: { clients: [4, 64], seconds: 0.7, repeats: 2, backlog: 3_000 },
  run: async ({ server, progress }, { clients, seconds, repeats, backlog }) => {
    const systems = [
      await openLeasehold(server, 'two-call'),
      await openGraphile(server, 'unbatched'),
      await openPgBoss(server),
    ];
    const results = new Map(systems.map(({ name }) => [name, new Map<number, readonly Round[]>()]));
    const last = new Map<string, number>();
    try {
      for (const count of clients) {
        const rampSeconds = Math.max(LEAST_RAMP_SECONDS, count * RAMP_SECONDS_A_CLIENT);
        const window = { clients: count, rampSeconds, seconds };
        const rounds = await interleave(
          systems.map((system) => ({
            name: system.name,
            measure: async (): Promise<Round> => {
              await topUp(system, backlogFor(window, last.get(system.name), backlog));
              const { rate, jobs, emptyMs, claimMs } = await measureWork(system, window);
              last.set(system.name, rate);
              const falseEmpty = ratio(emptyMs.length, emptyMs.length + jobs);
              return { rate, falseEmpty, claimP99: percentile(claimMs, 99) };
            },
          })),
          { repeats, warmUps: 1, progress, what: `${count} connections` },
        );
        for (const [name, of] of rounds) results.get(name)?.set(count, of);
      }
    } finally {
      await closeAll(systems);
    }
    const names = systems.map(({ name }) => name);
    const values = (name: string, count: number, what: keyof Round): readonly number[] =>
      (results.get(name)?.get(count) ?? []).map((round) => round[what]);
    const rate = (name: string, count: number): number => median(values(name, count, 'rate'));
    const most = Math.max(...clients);
    const peak = (name: string): number => Math.max(...clients.map((count) => rate(name, count)));
    const columns = ['system', ...clients.map(String)];
    return {
      tables: [
        {
          title: 'Jobs a second, median (min–max), by connections',
          columns,
          rows: names.map((name) => [
            name,
            ...clients.map((count) => spreadText(values(name, count, 'rate'))),
          ]),
        },
        {
          title: 'Claims that found nothing while work was due, in per cent',
          columns,
          rows: names.map((name) => [
            name,
            ...clients.map((count) => median(values(name, count, 'falseEmpty')) * 100),
          ]),
        },
        {
          title: 'p99 of a claim, in ms',
          columns,
          rows: names.map((name) => [
            name,
            ...clients.map((count) => median(values(name, count, 'claimP99'))),
          ]),
        },
      ],
      targets: [
        {
          name: `claimers, ours with ${most} connections, of its peak`,
          measured: ratio(rate(OURS, most), peak(OURS)),
          bound: 0.8,
          kind: 'least',
        },
        {
          name: 'claimers, our claims that found nothing while work was due, in per cent, the most of all',
          measured:
            Math.max(...clients.flatMap((count) => values(OURS, count, 'falseEmpty'))) * 100,
          bound: 1,
          kind: 'most',
          unit: ' %',
        },
      ],
      charts: [
        {
          kind: 'line',
          title: 'Jobs a second by number of claiming connections',
          description: `With ${most} connections: ${[OURS, GRAPHILE, PG_BOSS].map((name) => `${name} ${Math.round(rate(name, most))} of ${Math.round(peak(name))} at its peak`).join(', ')}.`,
          x: { label: 'connections', scale: 'log' },
          y: { label: 'jobs a second' },
          series: names.map((name) => ({
            name,
            points: clients.map((count) => ({ x: count, y: rate(name, count) })),
          })),
        },
      ],
    };
  },
};
