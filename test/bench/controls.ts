import { CONTROLS } from './controls/all.ts';
import { cteText } from './controls/cte-text.ts';
import { inLimit } from './controls/in-limit.ts';
import { orPredicate, orPredicateInOrder } from './controls/or-predicate.ts';
import { product } from './controls/product.ts';
import { reference } from './controls/reference.ts';
import { measureClaims, type ClaimMeasure } from './controls/measure-claims.ts';
import { openControl, type ControlSystem } from './controls/control-system.ts';
import { showOverClaim, type OverClaim } from './controls/over-claim.ts';
import { closeAll } from './support/all-systems.ts';
import type { Bench, BenchContext, BenchResult, Table } from './support/bench.ts';
import { measureWork, topUp } from './support/measure-work.ts';
import { interleave } from './support/rounds.ts';
import { median, ratio, spreadText } from './support/stats.ts';

/** An ordinary job: large enough to show what it costs where it lies. */
const PAYLOAD = { text: 'x'.repeat(1000) };

/** The controls whose claim has another shape. */
const DRAWN = [product, cteText, reference, orPredicate, orPredicateInOrder, inLimit].map(
  ({ name }) => name,
);

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
    const rates = await burnDown(context, parameters);
    // One at a time: a million jobs with their payloads, nine times, is more than a small disk holds.
    const claims = new Map<string, readonly ClaimMeasure[]>();
    for (const control of CONTROLS) {
      context.progress.show(`claims at depth: ${control.name}`);
      const system = await openControl(context.server, control, { payload: PAYLOAD });
      try {
        claims.set(system.name, await measureClaims(system, parameters));
      } finally {
        await system.close();
      }
    }
    return report(parameters, rates, claims, await showOverClaim(context.server));
  },
};

async function burnDown(
  { server, progress, short }: BenchContext,
  { clients, seconds, repeats, backlog }: ControlsParameters,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const systems: ControlSystem[] = [];
  try {
    for (const control of CONTROLS) {
      systems.push(await openControl(server, control, { payload: PAYLOAD }));
    }
    return await interleave(
      systems.map((system) => ({
        name: system.name,
        measure: async () => {
          await topUp(system, backlog);
          return (await measureWork(system, { clients, rampSeconds: 0.3, seconds })).rate;
        },
      })),
      { repeats, warmUps: short ? 0 : 1, progress, what: `burn-down, ${clients} clients` },
    );
  } finally {
    await closeAll(systems);
  }
}

function report(
  { clients, depths, held }: ControlsParameters,
  rates: ReadonlyMap<string, readonly number[]>,
  claims: ReadonlyMap<string, readonly ClaimMeasure[]>,
  overClaim: OverClaim,
): BenchResult {
  const medianRate = (name: string): number => median(rates.get(name) ?? []);
  const places = [...depths.map((depth) => `${depth} pending`), `the same behind ${held} running`];
  const burnDownTable: Table = {
    title: `Claim and complete, one job a call, ${clients} clients, jobs a second: median (min–max)`,
    columns: ['queue', 'jobs/s', 'of its reference', 'what is different'],
    rows: CONTROLS.map(({ name, on, summary }) => {
      const base = medianRate(on === 'product' ? product.name : reference.name);
      return [name, spreadText(rates.get(name) ?? []), ratio(medianRate(name), base), summary];
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
    charts: [
      {
        kind: 'line',
        title: 'Time of a claim (p50) by the size of the backlog',
        description: `At ${depths.at(-1)?.toLocaleString('en-GB')} due jobs: ${DRAWN.map((name) => `${name} ${claims.get(name)?.[depths.length - 1]?.p50.toFixed(2)} ms`).join(', ')}.`,
        x: { label: 'due jobs', scale: 'log' },
        y: { label: 'milliseconds', scale: 'log' },
        series: DRAWN.map((name) => ({
          name,
          points: depths.map((depth, at) => ({
            x: depth,
            y: claims.get(name)?.[at]?.p50 ?? Number.NaN,
          })),
        })),
      },
    ],
    notes: [
      'Leasehold, no-floors and cte-text are on the whole product; the others on the small schema of the reference.',
      `All jobs carry ${JSON.stringify(PAYLOAD).length} bytes.`,
    ],
  };
}
