import type pg from 'pg';
import type { Lab } from '../experiment.ts';
import type { LostAnswers } from './disturb.ts';
import type { JobLedger } from './job-ledger.ts';
import { isFlat, type Sizes } from './measure-sizes.ts';
import type { Plan } from './plan.ts';
import type { Stage } from './stage.ts';

/** What is counted on the way. */
export interface Course {
  poolerKills: number;
  backendKills: number;
  longestRecoveryMs: number;
  checks: number;
  checkedJobs: number;
}

interface Evidence {
  readonly lab: Lab;
  readonly plan: Plan;
  readonly stage: Stage;
  readonly ledger: JobLedger;
  readonly answers: LostAnswers;
  readonly sizes: readonly Sizes[];
  readonly course: Course;
}

/** Growth of the last third over the middle third that still counts as none. */
const FLAT_SHARE = 0.2;
/** A run has to last some times as long as things are kept, before "flat" means something. */
const FLAT_FROM_MINUTES = 12;
const SHOWN_SIZES = 10;
const SHOWN_FAULTS = 20;

/** From the claim of an attempt whose lease ran out to the claim of the next one: the longest that the database still knows. */
export async function longestRecovery(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ ms: number | null }>(
    `select (max(extract(epoch from coalesce(n.started_at, s.started_at) - a.started_at)) * 1000)::float8 as ms
     from leasehold.attempts a
     left join leasehold.attempts n on n.job_id = a.job_id and n.fencing_token = a.fencing_token + 1
     left join leasehold.job_state s on s.job_id = a.job_id and s.lane = 0 and s.fencing_token = a.fencing_token + 1
     where a.outcome = 'lease_expired' and a.next_state = 'pending'`,
  );
  return rows[0]?.ms ?? 0;
}

/** Prints the summary; returns what did not hold. */
export async function judge(evidence: Evidence): Promise<readonly string[]> {
  const { lab, plan, stage, ledger, answers, sizes, course } = evidence;
  const { fleet, postgres, receiver, pool } = stage;
  const missing = await ledger.missing(pool);
  const states = Map.groupBy(ledger.settled.values(), ({ state }) => state);
  const repeats = repeatedEffects(evidence);
  const facts: readonly (readonly [count: number, what: string])[] = [
    [ledger.accepted, 'jobs accepted'],
    [states.get('succeeded')?.length ?? 0, 'succeeded'],
    [states.get('dead')?.length ?? 0, 'dead'],
    [ledger.accepted - ledger.settled.size - missing.length, 'neither ended nor missing'],
    [missing.length, 'lost'],
    [fleet.kills, 'Workers killed'],
    [postgres.kills, 'kills of the whole of Postgres'],
    [course.backendKills, 'kills of one backend, each with a recovery'],
    [course.poolerKills, 'kills of PgBouncer'],
    [answers.lost, 'answers lost after the commit'],
    [answers.refused, 'statements dropped or refused before they ran'],
    [answers.delayed, 'statements delayed'],
    [receiver.lostAnswers, 'answers of the receiver lost after the effect'],
    [receiver.calls.size, 'effects, by idempotency key'],
    [repeats.calls, 'calls that repeated an effect under its key'],
    [repeats.unexplained.length, 'of them without a claim of their own'],
    [receiver.keyless, 'calls without a key'],
    [ledger.appended, 'events appended'],
    [receiver.acknowledged.size, 'events acknowledged by their consumer'],
    [receiver.eventsRepeated, 'deliveries that the inbox knew'],
    [course.checks, 'checks of the history'],
    [course.checkedJobs, 'histories read by them'],
    [
      Math.round(course.longestRecoveryMs),
      'ms from a claim that was lost to the next one, at most',
    ],
  ];
  for (const [count, what] of facts) lab.print(`  ${String(count).padStart(8)}  ${what}`);
  printSizes(lab, sizes);

  const faults = [
    ...ledger.faults.slice(0, SHOWN_FAULTS),
    ...missing.slice(0, SHOWN_FAULTS).map((id) => `${id} was accepted and is lost`),
    ...repeats.unexplained.slice(0, SHOWN_FAULTS),
    ...atLeast(ledger.accepted, plan.jobs, 'jobs'),
    ...atLeast(fleet.kills, plan.kills, 'kills of Workers'),
    ...atLeast(postgres.kills, plan.serverKills, 'kills of Postgres'),
    ...atLeast(answers.lost, plan.lostAnswers, 'lost answers'),
  ];
  if (ledger.settled.size + missing.length < ledger.accepted) faults.push('some jobs did not end');
  if ((states.get('dead')?.length ?? 0) > 0) faults.push('jobs are dead that nothing had failed');
  if (receiver.keyless > 0) faults.push('the receiver was called without an idempotency key');
  const unapplied = ledger.appended - receiver.acknowledged.size;
  if (unapplied !== 0) faults.push(`${unapplied} events appended and not acknowledged`);
  if (course.checks === 0) faults.push('the history was never checked');
  if (plan.minutes >= FLAT_FROM_MINUTES) {
    for (const what of ['database', 'worker', 'liveHeap', 'postgres'] as const) {
      if (
        !isFlat(
          sizes.map((one) => one[what]),
          FLAT_SHARE,
        )
      )
        faults.push(`${what}: not flat`);
    }
  }
  return faults;
}

/**
 * A job may have its effect again when its report was lost, always under the same key: then each call has a claim of its
 * own, and the last fencing token is their number.
 */
function repeatedEffects({ ledger, stage }: Evidence): {
  readonly calls: number;
  readonly unexplained: readonly string[];
} {
  let calls = 0;
  const unexplained: string[] = [];
  for (const [key, count] of stage.receiver.calls) {
    calls += count - 1;
    const end = ledger.settled.get(key);
    if (end === undefined) unexplained.push(`an effect under ${key}, which is no job that ended`);
    else if (count > end.token) unexplained.push(`${key}: ${count} effects, ${end.token} claims`);
  }
  for (const [id, { state }] of ledger.settled) {
    if (state === 'succeeded' && !stage.receiver.calls.has(id)) {
      unexplained.push(`${id} succeeded and had no effect`);
    }
  }
  return { calls, unexplained };
}

function atLeast(count: number, wanted: number, what: string): string[] {
  return count >= wanted ? [] : [`${count} ${what}: the run asks for ${wanted}`];
}

function printSizes(lab: Lab, sizes: readonly Sizes[]): void {
  const step = Math.max(1, Math.floor(sizes.length / SHOWN_SIZES));
  lab.print('  minute   database MiB   dead rows   Worker MiB   its heap   Postgres MiB');
  for (const one of sizes.filter((_, index) => index % step === 0)) {
    const cells = [one.database, one.deadRows, one.worker, one.liveHeap, Math.round(one.postgres)];
    lab.print(
      `  ${one.minute.toFixed(1).padStart(6)}${cells.map((cell) => String(cell).padStart(13)).join('')}`,
    );
  }
}
