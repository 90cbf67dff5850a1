import { noFloors } from './controls/no-floors.ts';
import { openControl } from './controls/control-system.ts';
import type { Bench, BenchContext, BenchResult, Target } from './support/bench.ts';
import { offer } from './support/offered-load.ts';
import { holdSnapshot } from './support/old-snapshot-holder.ts';
import { sampleWork, type WorkSample } from './support/sample-work.ts';
import { percentile, ratio } from './support/stats.ts';
import { openGraphile } from './support/systems/graphile-worker.ts';
import { openLeasehold } from './support/systems/leasehold.ts';
import { openPgBoss } from './support/systems/pg-boss.ts';
import type { QueueSystem } from './support/systems/queue-system.ts';

type OldSnapshotParameters = {
  /** How long the snapshot stays open. */
  minutes: number;
  /** Offered to every system, jobs a second. */
  rate: number;
  clients: number;
  cleanSeconds: number;
  sampleSeconds: number;
};

/** What one system did: samples before the snapshot was taken and while it was open. */
interface Course {
  readonly clean: readonly WorkSample[];
  readonly held: readonly WorkSample[];
}

const OPENERS: readonly ((server: BenchContext['server']) => Promise<QueueSystem>)[] = [
  (server) => openLeasehold(server, 'two-call'),
  (server) => openControl(server, noFloors),
  (server) => openGraphile(server, 'unbatched'),
  openPgBoss,
];
const OURS = 0;

export const oldSnapshot: Bench<OldSnapshotParameters> = {
  name: 'old-snapshot',
  summary: 'one repeatable-read transaction stays open while jobs are offered at a fixed rate',
  full: { minutes: 10, rate: 200, clients: 8, cleanSeconds: 60, sampleSeconds: 5 },
  short: { minutes: 0.1, rate: 200, clients: 4, cleanSeconds: 4, sampleSeconds: 1 },
  run: async (context, parameters) => {
    const courses = new Map<string, Course>();
    for (const open of OPENERS) {
      const system = await open(context.server);
      try {
        courses.set(system.name, await course(context, system, parameters));
      } finally {
        await system.close();
      }
    }
    return report(courses, parameters);
  },
};

/** The offered load and the workers run from the first second to the last; the snapshot is taken in between. */
async function course(
  { progress }: BenchContext,
  system: QueueSystem,
  { minutes, rate, clients, cleanSeconds, sampleSeconds }: OldSnapshotParameters,
): Promise<Course> {
  const load = offer(system, rate);
  const work = sampleWork(system, { clients });
  const samples = async (seconds: number, what: string): Promise<WorkSample[]> => {
    const taken: WorkSample[] = [];
    const from = performance.now();
    while (performance.now() - from < seconds * 1000 - 1) {
      await new Promise((resolve) => setTimeout(resolve, sampleSeconds * 1000));
      const sample = await work.sample(load.asked);
      taken.push(sample);
      const { rate: achieved, claimP99, backlog } = sample;
      const at = Math.round((performance.now() - from) / 1000);
      progress.show(
        `${system.name}, ${what} ${at} s: ${Math.round(achieved)} jobs/s, p99 ${claimP99.toFixed(1)} ms, ${backlog} behind`,
      );
    }
    return taken;
  };
  let release = async (): Promise<void> => {};
  try {
    await samples(Math.min(cleanSeconds / 4, 15), 'warm-up');
    const clean = await samples(cleanSeconds, 'clean');
    release = await holdSnapshot(system.database);
    const held = await samples(minutes * 60, 'snapshot open');
    return { clean, held };
  } finally {
    await load.stop();
    await work.stop();
    await release();
  }
}

/** The last fifth of the time under the snapshot: what it has come to. */
function end(course: Course): readonly WorkSample[] {
  return course.held.slice(-Math.max(1, Math.round(course.held.length / 5)));
}

function rateOf(samples: readonly WorkSample[]): number {
  return samples.reduce((sum, { rate }) => sum + rate, 0) / samples.length;
}

function claimsOf(samples: readonly WorkSample[]): readonly number[] {
  return samples.flatMap(({ claimMs }) => claimMs);
}

function report(
  courses: ReadonlyMap<string, Course>,
  { minutes, rate }: OldSnapshotParameters,
): BenchResult {
  const rows = [...courses].map(([name, course]) => {
    const clean = claimsOf(course.clean);
    const last = claimsOf(end(course));
    return {
      name,
      rate: ratio(rateOf(end(course)), rateOf(course.clean)),
      p99: ratio(percentile(last, 99), percentile(clean, 99)),
      cells: [
        rateOf(course.clean),
        rateOf(end(course)),
        percentile(clean, 50),
        percentile(last, 50),
        percentile(clean, 99),
        percentile(last, 99),
        end(course).at(-1)?.backlog ?? 0,
        end(course).at(-1)?.deadRows ?? 0,
      ],
    };
  });
  const ours = rows[OURS];
  const targets: readonly Target[] = [
    {
      name: `rate at the end of ${minutes} minutes, of the clean rate`,
      measured: ours?.rate ?? Number.NaN,
      bound: 0.9,
      kind: 'least',
    },
    {
      name: 'p99 of a claim at the end, times clean',
      measured: ours?.p99 ?? Number.NaN,
      bound: 2,
      kind: 'most',
    },
  ];
  return {
    tables: [
      {
        title: `${rate} jobs/s offered; clean, then at the end of ${minutes} minutes of an open snapshot`,
        columns: [
          'system',
          'jobs/s clean',
          'at the end',
          'claim p50 ms clean',
          'at the end',
          'p99 ms clean',
          'at the end',
          'jobs behind',
          'dead rows',
        ],
        rows: rows.map(({ name, cells }) => [name, ...cells]),
      },
    ],
    targets,
    charts: [
      {
        kind: 'line',
        title: `Jobs a second while a snapshot stays open, ${rate} offered`,
        description: describe(rows, minutes),
        x: { label: 'minutes since the snapshot was taken' },
        y: { label: 'jobs a second' },
        series: series(courses, ({ rate: achieved }) => achieved),
      },
      {
        kind: 'line',
        suffix: 'claim',
        title: `Time of a claim (p50) while a snapshot stays open, ${rate} jobs/s offered`,
        description: describe(rows, minutes),
        x: { label: 'minutes since the snapshot was taken' },
        y: { label: 'milliseconds', scale: 'log' },
        series: series(courses, ({ claimP50 }) => claimP50),
      },
    ],
    notes: ['Each system had a database and a snapshot of its own; they ran one after another.'],
  };
}

function describe(
  rows: readonly { readonly name: string; readonly rate: number }[],
  minutes: number,
): string {
  const parts = rows.map(({ name, rate }) => `${name} ${Math.round(rate * 100)} %`);
  return `Rate at the end of ${minutes} minutes, of the rate before: ${parts.join(', ')}.`;
}

function series(
  courses: ReadonlyMap<string, Course>,
  y: (sample: WorkSample) => number,
): { name: string; points: { x: number; y: number }[] }[] {
  return [...courses].map(([name, { clean, held }]) => {
    const begun = clean.at(-1)?.atSeconds ?? 0;
    return {
      name,
      points: [...clean, ...held].map((sample) => ({
        x: (sample.atSeconds - begun) / 60,
        y: y(sample),
      })),
    };
  });
}
