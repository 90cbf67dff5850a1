import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { checkHistory } from '../simulation/history/check-history.ts';
import { SeededRandom } from '../simulation/world/random.ts';
import { every, breakAnswers, type LostAnswers } from './chaos/disturb.ts';
import { JobLedger } from './chaos/job-ledger.ts';
import { measureSizes, type Sizes } from './chaos/measure-sizes.ts';
import { planFor, type Plan } from './chaos/plan.ts';
import { produceInSql, produceOverHttp } from './chaos/produce-jobs.ts';
import { pullJobs } from './chaos/pull-jobs.ts';
import { judge, longestRecovery, type Course } from './chaos/judge.ts';
import { retainOnce } from './chaos/scaled-retention.ts';
import { setStage, type Stage } from './chaos/stage.ts';
import type { Experiment, Lab } from './experiment.ts';

const DEFAULT_MINUTES = 20;
const SHORT_MINUTES = 1.5;
const SETTLE_PATIENCE_MS = 3 * 60_000;
const LOOK_EVERY_MS = 5000;
const MINUTE = 60_000;

export const chaos: Experiment = {
  name: 'chaos',
  summary:
    'Workers, Postgres and PgBouncer killed at random, answers lost, producers keep on: nothing lost, nothing twice; --minutes N (20), --seed S; --short: 1.5 minutes',
  run: async (lab) => {
    const minutes = Number(lab.options['minutes'] ?? (lab.short ? SHORT_MINUTES : DEFAULT_MINUTES));
    if (!(minutes >= 1 && minutes <= 24 * 60)) return ['--minutes: give 1 to 1440'];
    const plan = planFor(minutes, Number(lab.options['seed'] ?? 1));
    const random = new SeededRandom(plan.seed);
    lab.print(`  ${minutes} minutes, seed ${plan.seed}`);
    const stage = await setStage(plan, random);
    try {
      return await play(lab, plan, stage, random);
    } finally {
      await stage.close();
    }
  },
};

/** One act at a time that needs Postgres alive all along: a check, or the kill itself. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  async take<Value>(act: () => Promise<Value>): Promise<Value> {
    const mine = this.#last.then(act, act);
    this.#last = mine.catch(() => undefined);
    return await mine;
  }
}

async function play(
  lab: Lab,
  plan: Plan,
  stage: Stage,
  random: SeededRandom,
): Promise<readonly string[]> {
  const { postgres, endpoint, fleet, receiver, pool, token } = stage;
  const ledger = new JobLedger();
  const answers: LostAnswers = { lost: 0, refused: 0, delayed: 0 };
  const sizes: Sizes[] = [];
  const course: Course = {
    poolerKills: 0,
    backendKills: 0,
    longestRecoveryMs: 0,
    checks: 0,
    checkedJobs: 0,
  };
  const turns = new Turns();
  const startedAt = performance.now();
  const minute = (): number => (performance.now() - startedAt) / MINUTE;

  const producing = new AbortController();
  const disturbing = new AbortController();
  const working = new AbortController();
  const order = { signal: disturbing.signal };
  const producers = {
    ledger,
    signal: producing.signal,
    due: () => ((performance.now() - startedAt) / 1000) * plan.jobsPerSecond,
    effectsUrl: receiver.url('/effects'),
  };
  const produce = [
    ...[1, 2, 3].map(() =>
      produceOverHttp({ ...producers, random: random.fork() }, { url: () => fleet.url(), token }),
    ),
    ...[1, 2].map(() => produceInSql({ ...producers, random: random.fork() }, stage.pooled)),
  ];
  const workers = [
    fleet.tick(working.signal),
    ...[1, 2].map(() =>
      pullJobs({
        url: () => fleet.url(),
        token,
        receiver,
        random: random.fork(),
        signal: working.signal,
      }),
    ),
    every(LOOK_EVERY_MS, { random: random.fork(), signal: working.signal }, async () => {
      await turns
        .take(() => look())
        .catch((error: unknown) => {
          // Without a database there is nothing to look at; what the database refuses is a fault.
          const code = error instanceof pg.DatabaseError ? (error.code ?? '') : '';
          if (/^(?:LH|2|42)/.test(code)) ledger.fault(`retention or a look: ${code}`);
        });
    }),
  ];
  const chance = random.fork();
  const disturbances = [
    breakAnswers(endpoint, plan.faultEveryMs, { ...order, random: random.fork() }, answers),
    every(plan.killEveryMs, { ...order, random: random.fork() }, () =>
      fleet.kill((count) => chance.below(count)),
    ),
    every(plan.serverKillEveryMs, { ...order, random: random.fork() }, () =>
      turns.take(() => postgres.kill()),
    ),
    every(plan.serverKillEveryMs / 2, { ...order, random: random.fork() }, () =>
      turns.take(async () => {
        postgres.killBackend((count) => chance.below(count));
        course.backendKills += 1;
      }),
    ),
    every(plan.poolerKillEveryMs, { ...order, random: random.fork() }, async () => {
      course.poolerKills = await stage.killPooler();
    }),
    every(plan.checkEveryMs, { ...order, random: random.fork() }, () =>
      turns.take(() => check(false)),
    ),
  ];

  await pause(plan.minutes * MINUTE);
  producing.abort();
  await Promise.all(produce);
  disturbing.abort();
  await Promise.all(disturbances);
  const patience = performance.now() + SETTLE_PATIENCE_MS;
  while (performance.now() < patience && !(await settled())) await pause(500);
  working.abort();
  await Promise.all(workers);
  await check(true);
  return await judge({ lab, plan, stage, ledger, answers, sizes, course });

  /** Reads what has ended, then lets retention go on: nothing is forgotten before it was seen. */
  async function look(): Promise<void> {
    await ledger.look(pool);
    course.longestRecoveryMs = Math.max(course.longestRecoveryMs, await longestRecovery(pool));
    await retainOnce(pool);
    await pool.query(`
      delete from applied where at < clock_timestamp() - interval '4 minutes';
      delete from orders where id < leasehold.job_id_floor(clock_timestamp() - interval '4 minutes')`);
    const [workerPid] = fleet.pids;
    const { liveHeap } = fleet;
    sizes.push(
      await measureSizes(pool, {
        minute: minute(),
        workerPid,
        liveHeap,
        postgresPids: postgres.pids,
      }),
    );
    lab.progress(
      `${minute().toFixed(1)} min: ${ledger.accepted} accepted, ${ledger.open} open, ${fleet.kills} kills, ${answers.lost} lost answers`,
    );
  }

  async function check(last: boolean): Promise<void> {
    await ledger.look(pool).catch(() => undefined);
    try {
      const report = await checkHistory(pool, {
        accepted: ledger.openIds(),
        drained: last,
        // The inbox forgets, as retention has it; what is younger must be on record.
        eventEffects: `select consumer, '' as sender, event_id, aggregate, version, place as applied_order
          from applied where at > clock_timestamp() - interval '2 minutes'`,
      });
      course.checks += 1;
      course.checkedJobs += report.jobs;
      for (const { rule, job, text } of report.faults)
        ledger.fault(`${rule}: ${job ?? ''} ${text}`);
    } catch (error) {
      // A backend or the pooler went under it: the next check reads the same and more. The last one has calm.
      if (last) throw error;
    }
  }

  async function settled(): Promise<boolean> {
    const { rows } = await pool.query<{ left: number }>(
      `select ((select count(*) from leasehold.job_state) + (select count(*) from leasehold.outbox_pending where lane in (1, 9)))::int as left`,
    );
    return rows[0]?.left === 0;
  }
}
