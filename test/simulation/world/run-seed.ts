import pg from 'pg';
import {
  checkHistory,
  type HistoryOptions,
  type HistoryReport,
  type HistoryRule,
} from '../history/check-history.ts';
import { Actor, type Steps } from './actor.ts';
import type { Connections } from './connections.ts';
import { Control } from './control.ts';
import { consume, Subscription } from './consumer.ts';
import { finish } from './finish.ts';
import type { Ground } from './ground.ts';
import { readLong } from './long-reader.ts';
import { operate } from './operator.ts';
import { drain, relay } from './passes.ts';
import { decide } from './person.ts';
import { produce } from './producer.ts';
import { Session } from './session.ts';
import { readClock } from './simulated-clock.ts';
import { Stage } from './stage.ts';
import { serve } from './worker.ts';
import { COMMON, QUEUE_NAMES, QUEUES, World, type Tally } from './world.ts';

/** After the producers have ended. */
const STEPS_LEFT = 600;
const LEAP_MS = 3000;
/** How much more often than others they go on: work is to be done. */
const WEIGHTS: Readonly<Record<string, number>> = { worker: 4, producer: 2, relay: 3 };

export interface SeedFault {
  readonly rule: HistoryRule | 'unexpected_error';
  readonly text: string;
}

export interface SeedResult {
  readonly seed: number;
  readonly report: HistoryReport;
  /** What went wrong: a rule of the history with its text, or an error that nobody may see. */
  readonly faults: readonly SeedFault[];
  readonly tally: Tally;
  /** What happened, a line each; the same lines for the same seed. */
  readonly log: readonly string[];
}

const DRAINED = { clock: 'virtual.peek()' };
const CHECKS: HistoryOptions = {
  // Without a wait the clock moves by looks alone between the check of a lease and the stamp.
  graceMs: 5,
  jobEffects: 'select job_id, fencing_token from app.job_effects',
  eventEffects:
    'select consumer, sender, event_id, aggregate, version, at as applied_order from app.event_effects',
};

/**
 * Runs the world of one seed on a database of its own and checks its history: once when everybody was killed at once and a
 * worker found nothing more to do, and again when everything has been worked off.
 *
 * @param options.crash restarts of the database kill its server, which nobody else may use then; else its connections are cut
 */
export async function runSeed(
  ground: Ground,
  seed: number,
  { crash = false }: { readonly crash?: boolean } = {},
): Promise<SeedResult> {
  await ground.clear();
  const pool = new pg.Pool({ connectionString: ground.url, max: 2 });
  pool.on('error', () => undefined);
  const control = new Control(ground.url);
  const world = new World(seed);
  const faults: SeedFault[] = [];
  let report: HistoryReport | undefined;
  const check = async (drained: NonNullable<HistoryOptions['drained']>): Promise<void> => {
    const { accepted, waitedMs } = world;
    report = await checkHistory(pool, { ...CHECKS, accepted, waitedMs, drained });
    for (const { rule, job, text } of report.faults) {
      faults.push({ rule, text: job === null ? text : `${job}: ${text}` });
    }
  };
  try {
    await configure(control, world);
    world.now = await readClock(control);
    const subscriptions = [
      new Subscription('ledger', 'any'),
      new Subscription('latest', 'apply-newer-only'),
      new Subscription('copy', 'strict'),
    ];
    await play({ world, control, connections: ground.connections, subscriptions, crash });
    const closing = new Actor(
      'closing',
      world,
      session(ground.connections, world, crash),
      world.random.fork(),
    );
    try {
      await finish(closing, control, subscriptions, () => check(DRAINED));
      await check(DRAINED);
    } catch (error) {
      world.fail(closing.name, error);
      await check(false);
    } finally {
      await closing.session.release();
    }
  } finally {
    await control.close();
    await pool.end();
  }
  if (report === undefined) throw new Error('no report');
  for (const text of world.errors) faults.push({ rule: 'unexpected_error', text });
  return { seed, report, faults, tally: world.tally, log: world.log };
}

async function configure(control: Control, { weather }: World): Promise<void> {
  for (const queue of QUEUE_NAMES) {
    await control.query(`select leasehold.configure_queue($1, $2, 'simulation')`, [
      queue,
      { ...COMMON, ...QUEUES[queue], ...escalation(weather.escalateAfter.get(queue)) },
    ]);
  }
}

function escalation(after: number | undefined): Record<string, unknown> {
  return after === undefined ? {} : { on_exhausted: 'escalate', escalate_after: after };
}

function session(connections: Connections, world: World, crash: boolean): Session {
  const random = world.random.fork();
  return new Session(connections, world, () => random.next(), crash);
}

interface Play {
  readonly world: World;
  readonly control: Control;
  readonly connections: Connections;
  readonly subscriptions: readonly Subscription[];
  readonly crash: boolean;
}

async function play({ world, control, connections, subscriptions, crash }: Play): Promise<void> {
  const stage = new Stage(world, control);
  const add = (role: string, count: number, steps: (actor: Actor, at: number) => Steps): void => {
    for (let at = 1; at <= count; at += 1) {
      let started = 0;
      stage.add(role, WEIGHTS[role] ?? 1, () => {
        started += 1;
        const name = `${role} ${at}${started > 1 ? ` (${started})` : ''}`;
        const actor = new Actor(
          name,
          world,
          session(connections, world, crash),
          world.random.fork(),
        );
        return { actor, steps: steps(actor, at) };
      });
    }
  };
  add('producer', 3, produce);
  add('worker', world.weather.workers, serve);
  add('drain', 1, drain);
  add('relay', 2, relay);
  add('consumer', subscriptions.length, (actor, at) => {
    const subscription = subscriptions[at - 1];
    if (subscription === undefined) throw new Error('no subscription');
    return consume(actor, subscription);
  });
  add('operator', 1, operate);
  add('person', world.weather.people, decide);
  add('reader', 1, (actor) => readLong(actor, control));
  try {
    let left = STEPS_LEFT;
    while (world.tally.steps < world.weather.mostSteps && left > 0) {
      pass(world);
      await disturb(world, stage, crash);
      await stage.step();
      if (stage.hasEnded('producer')) left -= 1;
    }
    // Theirs may be the latest commits of all.
    await stage.letCommit('producer');
  } finally {
    await stage.end();
  }
}

/** Time goes on: mostly a little, now and then by more than a lease. */
function pass(world: World): void {
  const { random, weather, tally } = world;
  if (random.chance(weather.leaps)) {
    tally.leaps += 1;
    world.letPass(random.between(500, LEAP_MS));
    world.note('clock', 'leaps');
  } else {
    world.letPass(random.between(1, 8));
  }
}

async function disturb(world: World, stage: Stage, crash: boolean): Promise<void> {
  const { random, weather } = world;
  if (random.chance(weather.kills)) await stage.kill();
  if (random.chance(weather.resets)) await stage.reset();
  if (random.chance(weather.restarts)) await stage.restart(crash);
  if (random.chance(weather.clockSteps)) {
    const actor = random.pick(stage.actors);
    if (actor !== undefined) {
      actor.clockError = random.between(-4000, 4000);
      actor.note(`its clock is ${actor.clockError} ms off`);
    }
  }
}
