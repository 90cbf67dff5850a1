import { uuidv7 } from 'uuidv7';
import { buffers, explained } from '../sql/support/explained.ts';
import { closeAll, GRAPHILE, OURS, PG_BOSS } from './support/all-systems.ts';
import type { Bench, BenchResult } from './support/bench.ts';
import type { BenchDatabase } from './support/bench-database.ts';
import { claimTimes, fillTo, topUp } from './support/measure-work.ts';
import type { Progress } from './support/progress.ts';
import { interleave } from './support/rounds.ts';
import { median, percentile, ratio, spreadText } from './support/stats.ts';
import { openGraphile } from './support/systems/graphile-worker.ts';
import { openLeasehold } from './support/systems/leasehold.ts';
import { openPgBoss } from './support/systems/pg-boss.ts';
import type { QueueSystem } from './support/systems/queue-system.ts';

const MANY = 20;
/** So that the backlog is what the column says all the time. */
const CLAIMED_PART = 4;
const MOST_CLAIMS = 1000;
const MANY_SAMPLES = 10;
/** Not as many where one call takes seconds. */
const MANY_SECONDS = 10;
/** A claim that sorts the backlog grows with it; one that does not stays. */
const SORTING_RATIO = 3;
const WARM_UP_CLAIMS = 4;
const PAGES_OWNER = 'bench-pages';

interface Depth {
  readonly label: string;
  readonly pending: number;
  /** Finished jobs beside them. */
  readonly finished: number;
}

interface Costs {
  /** Medians of the rounds. */
  readonly p50: readonly number[];
  readonly p99: readonly number[];
  readonly manyMs: readonly number[];
  /** Pages of one claim; ours alone. */
  readonly pages: number | null;
  readonly pagesOfMany: number | null;
}

/** By depth, then by system. */
type Measured = ReadonlyMap<Depth, ReadonlyMap<string, Costs>>;

export const claimCost: Bench<{
  depths: readonly number[];
  finished: number;
  seconds: number;
  repeats: number;
}> = {
  name: 'claim-cost',
  summary: `one claim by size of the backlog, its pages, and ${MANY} jobs a claim; all systems`,
  full: { depths: [1_000, 10_000, 100_000, 1_000_000], finished: 900_000, seconds: 10, repeats: 3 },
  short: { depths: [1_000, 30_000], finished: 20_000, seconds: 0.6, repeats: 2 },
  run: async ({ server, progress }, { depths, finished, seconds, repeats }) => {
    const systems = [
      await openLeasehold(server, 'two-call'),
      await openGraphile(server, 'unbatched'),
      await openPgBoss(server),
    ];
    const measured = new Map<Depth, ReadonlyMap<string, Costs>>();
    try {
      for (const pending of depths) {
        const depth = { label: jobsText(pending), pending, finished: 0 };
        measured.set(depth, await costsAt(systems, depth, { seconds, repeats, progress }));
      }
      const pending = Math.max(0, (depths.at(-1) ?? 0) - finished);
      const label = `${jobsText(pending)} of ${jobsText(pending + finished)}`;
      const depth = { label, pending, finished };
      for (const system of systems) {
        progress.show(`${system.name}: finishing ${finished} jobs`);
        await system.finish?.(finished);
      }
      measured.set(depth, await costsAt(systems, depth, { seconds, repeats, progress }));
      return report(measured);
    } finally {
      await closeAll(systems);
    }
  },
};

async function costsAt(
  systems: readonly QueueSystem[],
  { label, pending }: Depth,
  options: { readonly seconds: number; readonly repeats: number; readonly progress: Progress },
): Promise<ReadonlyMap<string, Costs>> {
  const { seconds, repeats, progress } = options;
  for (const system of systems) {
    progress.show(`${label}: filling ${system.name}`);
    await fillTo(system, pending);
  }
  const rounds = await interleave<{ oneMs: readonly number[]; manyMs: readonly number[] }>(
    systems.map((system) => ({
      name: system.name,
      measure: async () => {
        await topUp(system, pending);
        const claims = Math.ceil(Math.min(MOST_CLAIMS, pending / CLAIMED_PART));
        const oneMs = await claimTimes(system, { claims, seconds });
        return { oneMs, manyMs: await claimMany(system) };
      },
    })),
    { repeats, warmUps: 1, progress, what: label },
  );
  const costs = new Map<string, Costs>();
  for (const system of systems) {
    const of = rounds.get(system.name) ?? [];
    const ours = system.name === OURS;
    costs.set(system.name, {
      p50: of.map(({ oneMs }) => median(oneMs)),
      p99: of.map(({ oneMs }) => percentile(oneMs, 99)),
      manyMs: of.flatMap(({ manyMs }) => (manyMs.length === 0 ? [] : [median(manyMs)])),
      pages: ours ? await pagesOfClaim(system.database, 1) : null,
      pagesOfMany: ours ? await pagesOfClaim(system.database, MANY) : null,
    });
  }
  return costs;
}

async function claimMany(system: QueueSystem): Promise<readonly number[]> {
  const taken: number[] = [];
  if (system.claimMany === undefined) return taken;
  const begun = performance.now();
  while (taken.length < MANY_SAMPLES && performance.now() - begun < MANY_SECONDS * 1000) {
    const { jobs, ms } = await system.claimMany(MANY);
    if (jobs === MANY) taken.push(ms);
  }
  return taken;
}

/** `null` where the role may not load `auto_explain`. */
async function pagesOfClaim(database: BenchDatabase, limit: number): Promise<number | null> {
  const client = await database.pool.connect();
  const call = 'select * from leasehold.claim($1, $2, $3, p_limit => $4)';
  const values = (): readonly unknown[] => ['bench', PAGES_OWNER, uuidv7(), limit];
  try {
    for (let warmUp = 0; warmUp < WARM_UP_CLAIMS; warmUp += 1) {
      await client.query(call, [...values()]);
    }
    const outer = (await explained(client, call, values())).at(-1);
    await client.query(
      `select c.outcome from leasehold.job_state s
       cross join lateral leasehold.complete(s.job_id, s.owner, s.fencing_token) c where s.owner = $1`,
      [PAGES_OWNER],
    );
    return outer === undefined ? null : buffers(outer.plan);
  } catch {
    return null;
  } finally {
    client.release(true);
  }
}

function report(measured: Measured): BenchResult {
  const depths = [...measured.keys()];
  const backlogs = depths.filter(({ finished }) => finished === 0);
  const names = [...new Set([...measured.values()].flatMap((of) => [...of.keys()]))];
  const p50 = (name: string, depth: Depth | undefined): number =>
    depth === undefined ? Number.NaN : median(measured.get(depth)?.get(name)?.p50 ?? []);
  const [least] = backlogs;
  const most = backlogs.at(-1);
  const pages = depths.map((depth) => measured.get(depth)?.get(OURS)?.pages ?? null);
  const sorts = ratio(p50(PG_BOSS, most), p50(PG_BOSS, least)) >= SORTING_RATIO;
  const row = (what: (costs: Costs) => readonly number[]) => (name: string) => [
    name,
    ...depths.map((depth) => {
      const costs = measured.get(depth)?.get(name);
      return spreadText(costs === undefined ? [] : what(costs), 2);
    }),
  ];
  const labels = depths.map(({ label }) => label);
  return {
    tables: [
      {
        title: 'One claim, p50 in ms: median of the rounds (min–max), by due jobs',
        columns: ['system', ...labels],
        rows: names.map(row((costs) => costs.p50)),
      },
      {
        title: 'One claim, p99 in ms',
        columns: ['system', ...labels],
        rows: names.map(row((costs) => costs.p99)),
      },
      {
        title: `One call that claims ${MANY} jobs, in ms`,
        columns: ['system', ...labels],
        rows: names.filter((name) => name !== GRAPHILE).map(row((costs) => costs.manyMs)),
      },
      {
        title: 'Pages that our claim looks at',
        columns: ['', ...labels],
        rows: [
          ['one job', ...pages],
          [
            `${MANY} jobs, each`,
            ...depths.map((depth) => {
              const many = measured.get(depth)?.get(OURS)?.pagesOfMany ?? null;
              return many === null ? null : many / MANY;
            }),
          ],
        ],
      },
    ],
    targets: [
      {
        name: `claim-cost, ours at ${most?.label ?? '?'} jobs, times at ${least?.label ?? '?'}`,
        measured: ratio(p50(OURS, most), p50(OURS, least)),
        bound: 1.3,
        kind: 'most',
      },
      {
        name: 'claim-cost, pages of our claim, the most of all depths',
        measured: Math.max(...pages.map((count) => count ?? Number.NaN)),
        bound: 50,
        kind: 'most',
      },
      ...(sorts
        ? [
            {
              name: `claim-cost, pg-boss at ${most?.label ?? '?'} jobs, times ours`,
              measured: ratio(p50(PG_BOSS, most), p50(OURS, most)),
              bound: 100,
              kind: 'least' as const,
            },
          ]
        : []),
    ],
    charts: [
      {
        kind: 'line',
        title: 'Time of one claim by size of the backlog',
        description: names
          .map(
            (name) =>
              `${name}: ${p50(name, least).toFixed(2)} ms at ${least?.label ?? '?'} due jobs, ${p50(name, most).toFixed(2)} ms at ${most?.label ?? '?'}.`,
          )
          .join(' '),
        x: { label: 'due jobs', scale: 'log' },
        y: { label: 'milliseconds a claim (p50)', scale: 'log' },
        series: names.map((name) => ({
          name,
          points: backlogs.map((depth) => ({ x: depth.pending, y: p50(name, depth) })),
        })),
      },
    ],
    notes: [
      `“${labels.at(-1) ?? ''}”: jobs that are due beside finished ones; graphile-worker deletes those, the others keep them. No public call of graphile-worker claims ${MANY} jobs for a worker.`,
      ...(sorts
        ? []
        : [
            'A fetch of this pg-boss costs no more from a deep backlog: it sorts no more, so nothing has to be reached there.',
          ]),
    ],
  };
}

function jobsText(count: number): string {
  if (count >= 1_000_000) return `${count / 1_000_000} M`;
  return count >= 1_000 ? `${count / 1_000} K` : String(count);
}
