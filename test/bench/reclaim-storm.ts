import { noFloors } from './controls/no-floors.ts';
import { openControl, type ControlSystem } from './controls/control-system.ts';
import { product, PRODUCT_STATEMENTS } from './controls/product.ts';
import type { Bench, BenchContext, BenchResult } from './support/bench.ts';
import { claimLoop } from './support/claim-loop.ts';
import { offer } from './support/offered-load.ts';
import { percentile, ratio } from './support/stats.ts';
import { newJobs } from './support/systems/leasehold.ts';

type StormParameters = {
  /** They expire within a tenth of a second. */
  leases: number;
  /** Fresh jobs a second, before the storm and through it. */
  rate: number;
  clients: number;
  calmSeconds: number;
  /** The storm is called off after so long. */
  mostSeconds: number;
};

interface Storm {
  /** From the enqueue call of a fresh job to its claim, in the calm before and in the storm. */
  readonly calmMs: readonly number[];
  readonly stormMs: readonly number[];
  /** From the first expiry to the completion of the last job that had expired. */
  readonly drainSeconds: number;
  readonly left: number;
}

export const reclaimStorm: Bench<StormParameters> = {
  name: 'reclaim-storm',
  summary: 'leases expire together while fresh jobs come in: their wait, and the time to drain',
  full: { leases: 100_000, rate: 200, clients: 8, calmSeconds: 30, mostSeconds: 600 },
  short: { leases: 4000, rate: 200, clients: 8, calmSeconds: 4, mostSeconds: 20 },
  run: async (context, parameters) => {
    const storms = new Map<string, Storm>();
    for (const control of [product, noFloors]) {
      const system = await openControl(context.server, control);
      try {
        storms.set(system.name, await storm(context, system, parameters));
      } finally {
        await system.close();
      }
    }
    return report(storms, parameters);
  },
};

async function storm(
  { progress }: BenchContext,
  system: ControlSystem,
  { leases, rate, clients, calmSeconds, mostSeconds }: StormParameters,
): Promise<Storm> {
  const { database } = system;
  progress.show(`${system.name}: making ${leases} leases`);
  await system.fill(leases);
  await system.hold(leases);
  await system.settle();
  await database.pool.query(
    `update leasehold.job_state
     set due_at = clock_timestamp() + make_interval(secs => $1::float8 + random() / 10)
     where owner = 'held'`,
    [calmSeconds],
  );
  // The update itself took a while: the storm begins when the first of the leases ends.
  const { rows } = await database.pool.query<{ ms: number }>(
    `select (extract(epoch from min(due_at) - clock_timestamp()) * 1000)::float8 as ms
     from leasehold.job_state where owner = 'held'`,
  );
  const begins = performance.now() + (rows[0]?.ms ?? 0);

  const sentAt = new Map<string, number>();
  const load = offer(
    {
      enqueue: async (count) => {
        const jobs = newJobs(count);
        const now = performance.now();
        for (const { id } of jobs) sentAt.set(String(id), now);
        await database.pool.query('select from leasehold.enqueue_batch($1, $2)', [
          JSON.stringify(jobs),
          'bench',
        ]);
      },
    },
    rate,
  );
  const calmMs: number[] = [];
  const stormMs: number[] = [];
  let left = leases;
  let drained = begins;
  const stop = new AbortController();
  const working = claimLoop(database, PRODUCT_STATEMENTS, {
    clients,
    signal: stop.signal,
    onClaim: ({ job_id, attempt }) => {
      const sent = sentAt.get(job_id);
      const now = performance.now();
      if (sent !== undefined) {
        sentAt.delete(job_id);
        (sent < begins ? calmMs : stormMs).push(now - sent);
      } else if (attempt === 2) {
        left -= 1;
        drained = now;
        if (left === 0) stop.abort();
      }
    },
    onJob: () => progress.show(`${system.name}: ${left} expired jobs left`),
  });
  const over = setTimeout(() => stop.abort(), (calmSeconds + mostSeconds) * 1000);
  try {
    await working;
  } finally {
    clearTimeout(over);
    await load.stop();
  }
  // Fresh jobs that nobody has claimed by now have waited so long at least.
  for (const sent of sentAt.values()) stormMs.push(performance.now() - sent);
  return { calmMs, stormMs, drainSeconds: (drained - begins) / 1000, left };
}

function report(
  storms: ReadonlyMap<string, Storm>,
  { leases, rate, clients }: StormParameters,
): BenchResult {
  const [ours] = storms.values();
  return {
    tables: [
      {
        title: `${leases.toLocaleString('en-GB')} leases expire together, ${rate} fresh jobs/s, ${clients} clients`,
        columns: [
          'queue',
          'fresh job, enqueue to claim, ms: calm p50',
          'p99',
          'in the storm p50',
          'p99',
          'drained after s',
          'expired jobs/s',
          'left',
        ],
        rows: [...storms].map(([name, { calmMs, stormMs, drainSeconds, left }]) => [
          name,
          percentile(calmMs, 50),
          percentile(calmMs, 99),
          percentile(stormMs, 50),
          percentile(stormMs, 99),
          drainSeconds,
          (leases - left) / drainSeconds,
          left,
        ]),
      },
    ],
    targets: [
      {
        name: 'fresh job p99 in the storm, times calm',
        measured: ratio(percentile(ours?.stormMs ?? [], 99), percentile(ours?.calmMs ?? [], 99)),
        bound: 3,
        kind: 'most',
      },
      { name: 'expired jobs left', measured: ours?.left ?? Number.NaN, bound: 0, kind: 'most' },
    ],
  };
}
