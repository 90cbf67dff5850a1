import { AsyncLocalStorage } from 'node:async_hooks';

import { createApp } from '../../../functions/app.ts';
import type { AppDeps } from '../../../functions/deps.ts';
import { createPoker } from '../../../functions/poker.ts';
import { tick } from '../../../functions/scheduled/tick.ts';
import { AlarmClock } from '../../../functions/wake/alarm-clock.ts';
import { createBatchedWakeClock } from '../../../functions/wake/batched-wake-clock.ts';
import { createHeldPoker } from '../../../functions/wake/held-poker.ts';
import { webClock, webTimer } from '../../../functions/web-ports.ts';
import type { Handler } from '../../../shared/handler.ts';
import type { Poker, Timer } from '../../../shared/ports.ts';
import type { WakeClock } from '../../../shared/wake/wake-clock.ts';
import { createAppHarness, POKE_KEY } from '../../routes/support/app-harness.ts';
import type { Answer, AppHarness, CallOptions } from '../../routes/support/app-harness.ts';
import { FakeAlarm } from './fake-alarm.ts';

const MINUTE_MS = 60_000;
/** Where platforms stop calls from a function to itself. */
const MAX_SELF_CALLS_DEEP = 16;

/** Sent and never seen again, so that nobody can tell. */
const LOST: Poker = { send: async () => 'sent' };
/** Moments in which the wishes of several requests are collected are over soon. */
const QUICK: Timer = { sleep: (milliseconds, signal) => webTimer.sleep(milliseconds / 25, signal) };

export interface WakeWorldOptions {
  readonly handlers: readonly Handler[];
  readonly config?: Readonly<Record<string, string>>;
  /** Milliseconds; null: off. Default: an hour. */
  readonly sweepMs?: number | null;
  /** What becomes of an instant on its way to the wake clock. Default: it arrives. */
  readonly wakes?: 'arrive' | 'lost' | 'doubled';
  /** What becomes of pokes of inserts and chains; those of drains arrive, once or twice. */
  readonly pokes?: 'arrive' | 'lost' | 'doubled';
}

/**
 * The Cloudflare form in one process: the app that pokes itself, the wake clock with its alarm, and a cron, over a real
 * database. Time passes when a test says so: what would come later is made to lie so much nearer, in the database too.
 */
export interface WakeWorld {
  readonly app: AppHarness;
  readonly alarm: FakeAlarm;
  readonly deps: AppDeps;
  /** Ticks that ran, pokes that were sent, the deepest self-call and those that were refused. */
  readonly counts: { ticks: number; pokes: number; deepest: number; refused: number };
  /** What the cron does. */
  check(): Promise<void>;
  /** The clock loses all that it kept, and its memory. */
  wipe(): void;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Lets time pass: alarms ring when it is their time, the cron comes each minute, and what they start is waited for. */
  pass(milliseconds: number, options?: { readonly cron?: boolean }): Promise<void>;
  /** Rings until nothing is due within a second. */
  settle(): Promise<void>;
  /** Requests to the `/sql` endpoint while `during` runs. */
  requests(during: () => Promise<void>): Promise<number>;
  close(): Promise<void>;
}

export async function createWakeWorld(options: WakeWorldOptions): Promise<WakeWorld> {
  const app = await createAppHarness({
    handlers: options.handlers,
    ...(options.config === undefined ? {} : { config: options.config }),
  });
  const counts = { ticks: 0, pokes: 0, deepest: 0, refused: 0 };
  const depth = new AsyncLocalStorage<number>();
  const sweepMs = options.sweepMs === undefined ? 60 * MINUTE_MS : (options.sweepMs ?? undefined);
  // Whoever is called by the platform stands at the top, however it came to be called.
  const alarm = new FakeAlarm({ now: webClock.now, ring: () => depth.run(0, () => clock.ring()) });
  const newClock = (): AlarmClock =>
    new AlarmClock({
      storage: alarm,
      clock: webClock,
      timer: webTimer,
      log: app.log,
      sweepMs: () => sweepMs,
      tick: async (signal) => {
        counts.ticks += 1;
        await tick({ ...app.deps(), poker, wake: clock }, signal);
      },
    });
  let clock = newClock();
  const poker = createPoker({
    ...app.deps(),
    baseUrl: new URL('https://leasehold.test'),
    key: POKE_KEY,
    fetch: async (request) => {
      counts.pokes += 1;
      const deep = (depth.getStore() ?? 0) + 1;
      counts.deepest = Math.max(counts.deepest, deep);
      if (deep > MAX_SELF_CALLS_DEEP) {
        counts.refused += 1;
        return new Response('error 1019', { status: 530 });
      }
      const times = options.pokes === 'doubled' ? 2 : 1;
      const copies = Array.from({ length: times }, () => request.clone());
      const answers = await depth.run(
        deep,
        async () => await Promise.all(copies.map((copy) => createApp(deps).fetch(copy))),
      );
      return answers[0] ?? new Response(null, { status: 500 });
    },
  });
  const deps: AppDeps = app.deps({
    poker: createHeldPoker(options.pokes === 'lost' ? LOST : poker, {
      clock: webClock,
      inFlight: new Set(),
    }),
    wake: createBatchedWakeClock(
      onTheWay((at) => clock.wakeAt(at), options.wakes),
      {
        clock: webClock,
        timer: QUICK,
        batch: { waiting: undefined, handedOnAt: undefined },
      },
    ),
  });

  const world: WakeWorld = {
    app,
    alarm,
    deps,
    counts,
    check: () => clock.check(),
    wipe: () => {
      alarm.wipe();
      clock = newClock();
    },
    call: async (method, path, callOptions) =>
      await app.callApp({ deps }, await app.request(method, path, callOptions)),
    pass: async (milliseconds, { cron = true } = {}) => {
      let left = milliseconds;
      let untilCron = MINUTE_MS;
      for (;;) {
        while (await alarm.ringIfDue()) await app.backgroundDone();
        const untilAlarm = alarm.alarm === null ? Infinity : alarm.alarm - webClock.now();
        const step = Math.min(left, Math.max(0, untilAlarm), cron ? untilCron : Infinity);
        await age(app, alarm, step);
        left -= step;
        untilCron -= step;
        if (cron && untilCron <= 0) {
          await clock.check();
          untilCron = MINUTE_MS;
        }
        if (left <= 0 && (alarm.alarm ?? Infinity) > webClock.now()) break;
      }
      await app.backgroundDone();
    },
    settle: async () => {
      await app.backgroundDone();
      while (alarm.alarm !== null && alarm.alarm <= webClock.now() + 1000) {
        await age(app, alarm, Math.max(0, alarm.alarm - webClock.now()));
        await alarm.ringIfDue();
        await app.backgroundDone();
      }
    },
    requests: async (during) => {
      const before = app.http.endpoint.requests;
      await during();
      return app.http.endpoint.requests - before;
    },
    close: () => app.close(),
  };
  return world;
}

function onTheWay(
  wakeAt: WakeClock['wakeAt'],
  wakes: WakeWorldOptions['wakes'] = 'arrive',
): WakeClock {
  switch (wakes) {
    case 'arrive':
      return { wakeAt };
    case 'lost':
      return { wakeAt: async () => undefined };
    case 'doubled':
      return {
        wakeAt: async (at) => {
          await Promise.all([wakeAt(at), wakeAt(at)]);
        },
      };
  }
}

/** Every instant that somebody waits for comes so much nearer, whoever keeps it. */
async function age(app: AppHarness, alarm: FakeAlarm, milliseconds: number): Promise<void> {
  if (milliseconds <= 0) return;
  alarm.age(milliseconds);
  await app.database.pool.query(
    `with s as (update leasehold.job_state set due_at = due_at - $1::interval),
       c as (update leasehold.schedules
         set next_slot_at = next_slot_at - $1::interval, decided_until = decided_until - $1::interval),
       q as (update leasehold.queues set push_resume_at = push_resume_at - $1::interval
         where push_resume_at is not null),
       t as (update leasehold.turns set taken_at = taken_at - $1::interval)
     update leasehold.rate_starts set at = at - $1::interval`,
    [`${milliseconds} milliseconds`],
  );
}
