import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { buildWorker } from '../../infra/local/build-worker.ts';
import { migrate } from '../../infra/migrate.ts';
import { createClient } from '../../shared/client/client.ts';
import { work as workOn } from '../../shared/client/work.ts';
import { AskPerson } from '../../shared/handler-errors.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { createPgSql } from '../support/pg-sql.ts';
import type { Experiment, Lab } from './experiment.ts';
import { checkUpgraded, shapeOf } from './upgrade/check-upgraded.ts';
import { fillHistory } from './upgrade/fill-history.ts';
import type { Fleet } from './upgrade/fleet.ts';
import { Ledger } from './upgrade/ledger.ts';
import {
  HARD_QUEUE,
  Pace,
  PULL_QUEUE,
  produceInTransaction,
  produceOverHttp,
  producePrepared,
} from './upgrade/produce.ts';
import { helpOut, pullJobs, pullPrepared, readAround } from './upgrade/pull.ts';
import { report } from './upgrade/report.ts';
import { setStage, type Stage } from './upgrade/stage.ts';
import { watchedClient } from './upgrade/watched-client.ts';
import { watchLocks } from './upgrade/watch-locks.ts';

const PLAN = { history: 150_000, phaseMs: 30_000 };
const SHORT_PLAN = { history: 20_000, phaseMs: 7000 };
const SETTLE_PATIENCE_MS = 120_000;

export const upgrade: Experiment = {
  name: 'upgrade',
  summary:
    'The previous release works on while its database is migrated, then beside this one, then this one alone: no error but retried ones, nothing lost',
  run: async (lab) => {
    const stage = await setStage();
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-upgrade-build-'));
    try {
      return await play(lab, stage, folder);
    } finally {
      await stage.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function play(lab: Lab, stage: Stage, folder: string): Promise<readonly string[]> {
  const { release, pool, receiver, token } = stage;
  const plan = lab.short ? SHORT_PLAN : PLAN;
  lab.print(`  from ${release.commit.slice(0, 12)}, ${plan.history} ended jobs in the log`);
  await fillHistory(pool, plan.history);
  const newBuild = await buildWorker(folder);
  const old = await stage.startFleet(release.worker);
  let fleets: Fleet[] = [old];
  const ledger = new Ledger();
  stage.errors.ledger = ledger;
  const { library } = release;

  let turn = 0;
  const anyFleet = (): string => (fleets[(turn += 1) % fleets.length] ?? old).url();
  const oldClient = watchedClient(library.createClient, token, anyFleet, ledger);
  const producing = new AbortController();
  const working = new AbortController();
  const watching = new AbortController();
  const producers = {
    ledger,
    signal: producing.signal,
    pool,
    effectsUrl: receiver.url('/effects'),
  };
  const pace = new Pace();
  const pull = { ledger, signal: working.signal };
  const effect = ({ id }: { readonly id: string }): void => receiver.record(id);
  const locks = watchLocks(pool, ledger, watching.signal);
  const produce = [
    pace.look(pool, producing.signal),
    produceOverHttp(producers, pace, oldClient),
    ...[1, 2].map(() => produceInTransaction(producers, pace, library)),
    producePrepared(producers, pace),
  ];
  const work = [
    pullJobs({
      ...pull,
      work: library.work,
      client: oldClient,
      queue: PULL_QUEUE,
      handler: effect,
    }),
    pullPrepared(pool, ledger, receiver, working.signal),
    readAround(oldClient, ledger, () => ledger.recent(), working.signal),
  ];
  const giveUp = new AbortController();
  const givingUp = pullJobs({
    ...pull,
    work: library.work,
    client: oldClient,
    queue: HARD_QUEUE,
    handler: fail,
    signal: giveUp.signal,
  });

  await pause(plan.phaseMs);
  const statements = { before: old.statements, after: 0 };
  receiver.hold();
  await refused(lab, stage, ledger);
  await upgraded(lab, stage, ledger);
  receiver.letGo();
  const onNewSchema = old.statements;
  ledger.phase = 'old on new';
  await pause(plan.phaseMs / 2);

  ledger.phase = 'side by side';
  const young = await stage.startFleet(newBuild);
  fleets = [old, young];
  const newClient = watchedClient(createClient, token, () => young.url(), ledger);
  produce.push(produceOverHttp(producers, pace, newClient, { escalate_after: 2 }));
  const newAgent = { ...pull, work: workOn, client: newClient, queue: HARD_QUEUE };
  const asked = new AbortController();
  const asking = pullJobs({ ...newAgent, handler: ask, signal: asked.signal });
  work.push(helpOut(pool, working.signal));
  await pause(plan.phaseMs);
  statements.after = old.statements - onNewSchema;

  ledger.phase = 'new alone';
  fleets = [young];
  giveUp.abort();
  asked.abort();
  const beganAt = new Date();
  await Promise.all([givingUp, asking, old.stop()]);
  const stop = { beganAt, endedAt: new Date() };
  // What docs/escalations.md asks for: only now does nobody report who does not know this end.
  await configureQueue(createPgSql(pool), {
    queue: HARD_QUEUE,
    settings: { on_exhausted: 'escalate', escalate_after: 3 },
    actor: 'upgrade',
  });
  work.push(pullJobs({ ...newAgent, handler: fail }));
  await pause(plan.phaseMs / 2);
  producing.abort();
  await Promise.all(produce);
  const patience = performance.now() + SETTLE_PATIENCE_MS;
  while (performance.now() < patience && !(await settled(stage))) await pause(250);
  working.abort();
  await Promise.all(work);
  watching.abort();
  report(lab, { stage, ledger, locks: await locks, fleets: { old, young }, statements });

  const faults = [...ledger.faults, ...(await checkUpgraded(pool, ledger, receiver, stop))];
  for (const error of stage.errors.faults) faults.push(`the server reported ${error}`);
  const fresh = await shapeOf(lab.pool);
  const now = await shapeOf(pool);
  for (const [place, lines] of [
    ['lacks', [...fresh].filter((line) => !now.has(line))],
    ['has besides', [...now].filter((line) => !fresh.has(line))],
  ] as const) {
    if (lines.length > 0) {
      faults.push(`the upgraded schema ${place} ${lines.length} lines, ${lines[0]} among them`);
    }
  }
  if (receiver.held === 0) faults.push('no job ran on through the migration');
  if (statements.after === 0) faults.push('the old release did nothing on the new schema');
  return faults;
}

/** A long transaction is in the way: the migration has to give up, and to leave the schema as it was. */
async function refused(lab: Lab, { pool, migratorUrl }: Stage, ledger: Ledger): Promise<void> {
  ledger.phase = 'migration refused';
  const reader = await pool.connect();
  try {
    await reader.query('begin');
    await reader.query('select count(*) from leasehold.jobs where false');
    const began = performance.now();
    const failed = await migrate({ connectionString: migratorUrl }).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failed === undefined) ledger.fault('a migration got past an open transaction');
    lab.print(`  behind an open transaction it gave up after ${since(began)} ms`);
  } finally {
    await reader.query('rollback');
    reader.release();
  }
}

async function upgraded(lab: Lab, { migratorUrl }: Stage, ledger: Ledger): Promise<void> {
  ledger.phase = 'migration';
  const began = performance.now();
  const marks: string[] = [];
  for (let tries = 1; ; tries += 1) {
    try {
      await migrate({
        connectionString: migratorUrl,
        log: (line) => marks.push(`${line} after ${since(began)} ms`),
      });
      break;
    } catch (error) {
      if (tries === 5) throw error;
      ledger.retry(`migrate: ${error instanceof Error ? error.message : 'unknown'}`);
    }
  }
  for (const mark of marks) lab.print(`  ${mark}`);
}

async function settled({ pool }: Stage): Promise<boolean> {
  const { rows } = await pool.query<{ left: number }>(
    `select ((select count(*) from leasehold.job_state)
       + (select count(*) from leasehold.dead_letters where state = 'escalated')
       + (select count(*) from leasehold.outbox_pending where lane in (1, 9)))::int as left`,
  );
  return rows[0]?.left === 0;
}

function fail(): void {
  throw new Error('No worker can do this.');
}

function ask(): void {
  throw new AskPerson('Which of the two addresses?');
}

function since(began: number): number {
  return Math.round(performance.now() - began);
}
