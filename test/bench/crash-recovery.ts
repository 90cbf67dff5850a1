import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { migrate } from '../../infra/migrate.ts';
import { PRODUCT_STATEMENTS } from './controls/product.ts';
import type { Bench, BenchResult } from './support/bench.ts';
import type { BenchDatabase } from './support/bench-database.ts';
import { EMPTY_REST_MS, claimLoop } from './support/claim-loop.ts';
import { median, percentile, ratio } from './support/stats.ts';
import { leaseholdOn } from './support/systems/leasehold.ts';

const HOLDER = fileURLToPath(new URL('crash-recovery/hold-leases.ts', import.meta.url));
/** A run that recovers nothing any more must end too. */
const GRACE_SECONDS = 60;

type CrashParameters = {
  leases: number;
  leaseSeconds: number;
  /** Between one claim of the holder and the next, so that the leases end one by one too. */
  spacingMs: number;
  backlogs: readonly number[];
  clients: number;
  repeats: number;
};

interface Recovery {
  /** From the kill to the restart of the last job. */
  readonly lastMs: number;
  /** From the kill to the end of the last lease. */
  readonly leaseMs: number;
  /** From the end of each lease to the restart of its job. */
  readonly lateMs: readonly number[];
  /** Claim and completion of the jobs meanwhile. */
  readonly jobMs: number;
}

export const crashRecovery: Bench<CrashParameters> = {
  name: 'crash-recovery',
  summary:
    'the holder of leases is killed: from the kill to the restart of the last job, by backlog',
  full: {
    leases: 100,
    leaseSeconds: 10,
    spacingMs: 50,
    backlogs: [0, 1_000_000],
    clients: 8,
    repeats: 3,
  },
  short: {
    leases: 30,
    leaseSeconds: 2,
    spacingMs: 40,
    backlogs: [0, 50_000],
    clients: 4,
    repeats: 3,
  },
  run: async ({ server, progress }, parameters) => {
    const { backlogs, repeats } = parameters;
    const recoveries = new Map<number, Recovery[]>();
    for (const backlog of backlogs) {
      recoveries.set(backlog, []);
      const database = await server.database('crash_recovery');
      await migrate({ connectionString: database.url, log: () => undefined });
      try {
        for (let round = 1; round <= repeats; round += 1) {
          progress.show(`backlog ${backlog}: round ${round} of ${repeats}`);
          recoveries.get(backlog)?.push(await recover(database, backlog, parameters));
        }
      } finally {
        await database.drop();
      }
    }
    return report(recoveries, parameters);
  },
};

async function recover(
  database: BenchDatabase,
  backlog: number,
  { leases, leaseSeconds, spacingMs, clients }: CrashParameters,
): Promise<Recovery> {
  const queue = leaseholdOn(database, 'two-call');
  const missing = backlog + leases - (await queue.pending());
  if (missing > 0) await queue.fill(missing);
  await queue.settle();

  const holder = spawn(
    process.execPath,
    [HOLDER, database.url, String(leases), String(leaseSeconds), String(spacingMs)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await Promise.race([
    once(holder.stdout, 'data'),
    once(holder, 'exit').then(() => {
      throw new Error('The holder of the leases ended by itself.');
    }),
  ]);
  holder.kill('SIGKILL');
  const killed = performance.now();
  const left = await leasesLeft(database);

  const lateMs: number[] = [];
  const jobMs: number[] = [];
  const stop = AbortSignal.timeout((leaseSeconds + GRACE_SECONDS) * 1000);
  const done = new AbortController();
  let lastMs = 0;
  await claimLoop(database, PRODUCT_STATEMENTS, {
    clients,
    signal: AbortSignal.any([stop, done.signal]),
    onClaim: ({ job_id }) => {
      const expiresMs = left.get(job_id);
      if (expiresMs === undefined) return;
      left.delete(job_id);
      lastMs = performance.now() - killed;
      lateMs.push(lastMs - expiresMs);
      if (left.size === 0) done.abort();
    },
    onJob: ({ totalMs }) => void (totalMs !== undefined && jobMs.push(totalMs)),
  });
  if (left.size > 0) throw new Error(`${left.size} jobs were not started again.`);
  return { lastMs, leaseMs: lastMs - (lateMs.at(-1) ?? 0), lateMs, jobMs: median(jobMs) };
}

/** Milliseconds until each lease of the killed process ends, by job. */
async function leasesLeft(database: BenchDatabase): Promise<Map<string, number>> {
  const { rows } = await database.pool.query<{ job_id: string; ms: number }>(
    `select s.job_id, (extract(epoch from s.due_at - clock_timestamp()) * 1000)::float8 as ms
     from leasehold.job_state s
     where s.owner = 'doomed' and s.lane = 0`,
  );
  return new Map(rows.map(({ job_id, ms }) => [job_id, ms]));
}

function report(
  recoveries: ReadonlyMap<number, readonly Recovery[]>,
  { leases, leaseSeconds, clients }: CrashParameters,
): BenchResult {
  const last = (backlog: number): number =>
    median((recoveries.get(backlog) ?? []).map(({ lastMs }) => lastMs));
  const late = (backlog: number): number =>
    percentile(
      (recoveries.get(backlog) ?? []).flatMap(({ lateMs }) => lateMs),
      50,
    );
  const backlogs = [...recoveries.keys()];
  const [none = 0] = backlogs;
  const most = backlogs.at(-1) ?? none;
  const job = median((recoveries.get(most) ?? []).map(({ jobMs }) => jobMs));
  return {
    tables: [
      {
        title: `${leases} leases of ${leaseSeconds} s, their holder killed, ${clients} clients at work; ms, median of rounds`,
        columns: [
          'backlog',
          'kill to the last restart',
          'of it, the lease',
          'lease end to restart: p50',
          'p99',
          'claim and complete',
        ],
        rows: backlogs.map((backlog) => {
          const rounds = recoveries.get(backlog) ?? [];
          return [
            backlog.toLocaleString('en-GB'),
            last(backlog),
            median(rounds.map(({ leaseMs }) => leaseMs)),
            late(backlog),
            percentile(
              rounds.flatMap(({ lateMs }) => lateMs),
              99,
            ),
            median(rounds.map(({ jobMs }) => jobMs)),
          ];
        }),
      },
    ],
    targets: [
      {
        name: `kill to the last restart with ${most.toLocaleString('en-GB')} backlog, times with ${none}`,
        measured: ratio(last(most), last(none)),
        bound: 1.1,
        kind: 'most',
      },
      {
        name: `lease end to restart, p50, with ${most.toLocaleString('en-GB')} backlog (${clients} clients, every second claim)`,
        measured: late(most),
        bound: Math.ceil(EMPTY_REST_MS + 2 * job),
        kind: 'most',
        unit: ' ms',
      },
    ],
    charts: [
      {
        kind: 'bar',
        title: `From the kill of a holder to the restart of its last job, leases of ${leaseSeconds} s`,
        description: `With a backlog of ${none} the last of ${leases} jobs starts again after ${Math.round(last(none))} ms, with ${most} after ${Math.round(last(most))} ms.`,
        x: { label: 'due jobs in the backlog' },
        y: { label: 'milliseconds' },
        series: [
          {
            name: 'kill to the last restart',
            points: backlogs.map((backlog) => ({
              x: backlog.toLocaleString('en-GB'),
              y: last(backlog),
            })),
          },
        ],
      },
    ],
  };
}
