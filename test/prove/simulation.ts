import { simulatedGround } from './simulation-ground.ts';
import { runSeed, type SeedResult } from '../simulation/world/run-seed.ts';
import type { Experiment, Lab } from './experiment.ts';

const SEEDS = 500;
const SHORT_SEEDS = 25;
/** Seeds whose restarts kill the server instead of cutting connections. */
const CRASHES_EVERY = 10;
const TELL_EVERY = 50;
/** Lines of what happened that are shown of a failed seed. */
const LINES_SHOWN = 60;

export const simulation: Experiment = {
  name: 'simulation',
  summary: `${SEEDS} seeds of a whole deployment over Postgres, step by step, each history checked; --seeds N --from M; --short: ${SHORT_SEEDS}`,
  run: async (lab) => {
    const from = Number(lab.options['from'] ?? 1);
    const count = Number(lab.options['seeds'] ?? (lab.short ? SHORT_SEEDS : SEEDS));
    const ground = await simulatedGround(lab);
    const sums: Record<string, number> = {};
    const faults: string[] = [];
    const startedAt = performance.now();
    try {
      for (let seed = from; seed < from + count; seed += 1) {
        const result = await runSeed(ground, seed, { crash: seed % CRASHES_EVERY === 0 });
        add(sums, result);
        faults.push(...show(lab, result));
        const done = seed - from + 1;
        const told = `${done} of ${count} seeds, ${faults.length} faults`;
        if (done % TELL_EVERY === 0) lab.print(`  ${told}`);
        else lab.progress(told);
      }
    } finally {
      await ground.drop();
    }
    for (const [what, sum] of Object.entries(sums))
      lab.print(`  ${String(sum).padStart(8)}  ${what}`);
    const seconds = (performance.now() - startedAt) / 1000;
    lab.print(`  ${count} seeds from ${from} on, ${(seconds / count).toFixed(2)} s a seed`);
    return faults;
  },
};

/** Prints what happened before a fault, where there is one. */
function show({ print }: Lab, { seed, faults, log }: SeedResult): string[] {
  if (faults.length === 0) return [];
  print('');
  for (const line of log.slice(-LINES_SHOWN)) print(`  ${line}`);
  const again = `npm run prove -- simulation --seeds 1 --from ${seed}`;
  return faults.map(({ rule, text }) => `seed ${seed}: ${rule}: ${text} (again: ${again})`);
}

function add(sums: Record<string, number>, { report, tally }: SeedResult): void {
  const { jobs, claims, holds, events, expiries, published, consumed } = report;
  const counts: Record<string, number> = {
    jobs,
    'events of the log': events,
    claims,
    'claims of people': holds,
    'leases that ran out': expiries,
    'events published': published,
    'events consumed': consumed,
    steps: tally.steps,
    'processes killed': tally.kills,
    'connections cut': tally.resets,
    'restarts of the database': tally.restarts,
    'answers lost': tally.lostAnswers,
    'reports that found their lease lost': tally.leasesLost,
    'statements that waited for another': tally.waits,
    'calls repeated for an error': tally.retries,
    'old snapshots held': tally.oldSnapshots,
  };
  for (const [what, count] of Object.entries(counts)) sums[what] = (sums[what] ?? 0) + count;
}
