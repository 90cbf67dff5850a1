import { CONTROLS } from './controls/all.ts';
import { measureClaims, type ClaimMeasure } from './controls/measure-claims.ts';
import { openControl, type ControlSystem } from './controls/control-system.ts';
import { showOverClaim, type OverClaim } from './controls/over-claim.ts';
import type { Bench, BenchContext, BenchResult, Table } from './support/bench.ts';
import { measureWork } from './support/measure-work.ts';
import { interleave } from './support/rounds.ts';
import { ratio, spread } from './support/stats.ts';

/** An ordinary job: large enough to show what it costs where it lies. */
const PAYLOAD = { text: 'x'.repeat(1000) };

type ControlsParameters = {
  clients: number;
  seconds: number;
  repeats: number;
  backlog: number;
  depths: readonly number[];
  /** Running jobs in front of the deepest backlog. */
  held: number;
  /** For the claims at one depth. */
  claimSeconds: number;
};

export const controls: Bench<ControlsParameters> = {
  name: 'controls',
  summary: 'what each decision is worth: ours beside queues that differ in one of them',
  full: {
    clients: 8,
    seconds: 10,
    repeats: 3,
    backlog: 50_000,
    depths: [1000, 10_000, 100_000, 1_000_000],
    held: 10_000,
    claimSeconds: 3,
  },
  short: {
    clients: 8,
    seconds: 0.4,
    repeats: 3,
    backlog: 4000,
    depths: [5000, 20_000],
    held: 5000,
    claimSeconds: 0.25,
  },
  run: async (context, parameters) => {
    const systems: ControlSystem[] = [];
    try {
      for (const control of CONTROLS) {
        systems.push(await openControl(context.server, control, { payload: PAYLOAD }));
      }
      const rates = await burnDown(context, systems, parameters);
      const claims = new Map<string, readonly ClaimMeasure[]>();
      for (const system of systems) {
        context.progress.show(`claims at depth: ${system.name}`);
        claims.set(system.name, await measureClaims(system, parameters));
      }
      return report(parameters, rates, claims, await showOverClaim(context.server));
    } finally {
      for (const system of systems) await system.close();
    }
  },
};

async function burnDown(
  { progress, short }: BenchContext,
  systems: readonly ControlSystem[],
  { clients, seconds, repeats, backlog }: ControlsParameters,
): Promise<ReadonlyMap<string, readonly number[]>> {
  return await interleave(
    systems.map((system) => ({
      name: system.name,
      measure: async () => {
        const missing = backlog - (await system.pending());
        if (missing > 0) await system.fill(missing);
        await system.settle();
        return (await measureWork(system, { clients, rampSeconds: 0.3, seconds })).rate;
      },
    })),
    { repeats, warmUps: short ? 0 : 1, progress, what: `burn-down, ${clients} clients` },
  );
}

function report(
  { clients, depths, held }: ControlsParameters,
  rates: ReadonlyMap<string, readonly number[]>,
  claims: ReadonlyMap<string, readonly ClaimMeasure[]>,
  overClaim: OverClaim,
): BenchResult {
  const summaries = new Map(CONTROLS.map(({ name, summary }) => [name, summary]));
  const medianRate = (name: string): number => spread(rates.get(name) ?? []).median;
  const places = [...depths.map((depth) => `${depth} pending`), `the same behind ${held} running`];
  const burnDownTable: Table = {
    title: `Claim and complete, one job a call, ${clients} clients, jobs a second: median (min–max)`,
    columns: ['queue', 'jobs/s', 'of its reference', 'what is different'],
    rows: CONTROLS.map(({ name, on, summary }) => {
      const { median, min, max } = spread(rates.get(name) ?? []);
      const base = medianRate(on === 'product' ? 'Leasehold' : 'reference');
      return [
        name,
        `${Math.round(median)} (${Math.round(min)}–${Math.round(max)})`,
        ratio(median, base),
        summary,
      ];
    }),
  };
  const claimTable = (title: string, cell: (measure: ClaimMeasure) => number): Table => ({
    title,
    columns: ['queue', ...places],
    rows: [...claims].map(([name, measures]) => [name, ...measures.map(cell)]),
  });
  return {
    tables: [
      burnDownTable,
      claimTable('A claim, ms: p50', ({ p50 }) => p50),
      claimTable('A claim, ms: p99', ({ p99 }) => p99),
      claimTable('A claim, buffers', ({ buffers }) => buffers),
      {
        title: `One claim of one job, ${overClaim.due} due, stale statistics: jobs taken`,
        columns: ['queue', 'jobs taken'],
        rows: [
          ['Leasehold', overClaim.ours],
          ['in-limit', overClaim.inLimit],
        ],
      },
    ],
    targets: [
      {
        name: 'jobs taken by one claim of one job',
        measured: overClaim.ours,
        bound: 1,
        kind: 'most',
      },
    ],
    notes: [
      'Leasehold, no-floors and cte-text are on the whole product; the others on the small schema of the reference.',
      `All jobs carry ${JSON.stringify(PAYLOAD).length} bytes. ${summaries.size} queues, one machine, in turns.`,
    ],
  };
}
