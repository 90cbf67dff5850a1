import { beforeEach, describe, expect, test } from 'vitest';

import { AlarmClock } from '../../functions/wake/alarm-clock.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import {
  DRAIN_GAP_MS,
  FAILED_TICK_MS,
  MAX_LOOK_AGAIN_MS,
  MAX_TICK_MS,
  WAKE_STUCK_MS,
} from '../../shared/limits.ts';
import { ManualClock } from '../unit/support/manual-clock.ts';
import { RecordingLog } from '../unit/support/recording-log.ts';
import { FakeAlarm } from './support/fake-alarm.ts';

const HOUR_MS = 3_600_000;

let time: ManualClock;
let log: RecordingLog;
let alarm: FakeAlarm;
let clock: AlarmClock;
let sweepMs: number | undefined;
let ticks: number;
/** What the next ticks do. */
let onTick: (signal: AbortSignal) => Promise<void>;

beforeEach(() => {
  time = new ManualClock();
  log = new RecordingLog();
  sweepMs = HOUR_MS;
  ticks = 0;
  onTick = async () => undefined;
  alarm = new FakeAlarm({ now: () => time.now(), ring: () => clock.ring() });
  clock = newClock();
});

/** The object as it is after its process died: what it kept in memory is gone. */
function newClock(): AlarmClock {
  return new AlarmClock({
    storage: alarm,
    clock: time,
    timer: time.timer,
    log,
    sweepMs: () => sweepMs,
    tick: async (signal) => {
      ticks += 1;
      await onTick(signal);
    },
  });
}

/** From now on, in milliseconds; null: never. */
function ringsIn(): number | null {
  return alarm.alarm === null ? null : alarm.alarm - time.now();
}

/** Time passes, and the alarm rings whenever it is time. */
async function pass(milliseconds: number): Promise<void> {
  const until = time.now() + milliseconds;
  while (alarm.alarm !== null && alarm.alarm <= until) {
    time.jump(Math.max(0, alarm.alarm - time.now()));
    await alarm.ringIfDue();
  }
  time.jump(until - time.now());
}

describe('the earliest instant is the alarm', () => {
  test('S1.16 the earlier of two wins, in either order, and asking twice sets it once', async () => {
    await clock.wakeAt(time.now() + 5000);
    await clock.wakeAt(time.now() + 9000);
    await clock.wakeAt(time.now() + 5000);
    expect(ringsIn()).toBe(5000);
    expect(alarm.sets).toBe(1);
    await clock.wakeAt(time.now() + 1000);
    expect(ringsIn()).toBe(1000);
  });

  test('the past means now', async () => {
    await clock.wakeAt(time.now() - 60_000);
    expect(ringsIn()).toBe(0);
  });

  test('a tick that asks for nothing is followed by the sweep alone', async () => {
    await clock.wakeAt(time.now());
    await pass(0);
    expect(ticks).toBe(1);
    expect(ringsIn()).toBe(HOUR_MS);
    await pass(3 * HOUR_MS);
    expect(ticks).toBe(4);
  });

  test('B.1 with the sweep off, by nothing at all', async () => {
    sweepMs = undefined;
    await clock.wakeAt(time.now());
    await pass(24 * HOUR_MS);
    await clock.check();
    expect(ticks).toBe(1);
    expect(ringsIn()).toBeNull();
  });

  test('the instant that the tick asks for is the next alarm', async () => {
    onTick = () => clock.wakeAt(time.now() + 7000);
    await clock.wakeAt(time.now());
    await pass(0);
    expect(ringsIn()).toBe(7000);
  });

  test('what was asked for before the tick is forgotten: the tick has seen it in the database', async () => {
    await clock.wakeAt(time.now() + 1000);
    await clock.wakeAt(time.now() + 500);
    await pass(500);
    expect(ringsIn()).toBe(HOUR_MS);
  });

  test('what is asked for during the tick is kept, its own wishes and those of others', async () => {
    const others = Promise.withResolvers<void>();
    onTick = async () => {
      await clock.wakeAt(time.now() + 20_000);
      await others.promise;
    };
    await clock.wakeAt(time.now());
    const ringing = alarm.ringIfDue();
    await clock.wakeAt(time.now() + 3000);
    await clock.wakeAt(time.now() + 400_000);
    others.resolve();
    await ringing;
    expect(ringsIn()).toBe(3000);
  });

  test('drains that are asked for all the time come one after another, with a pause between', async () => {
    onTick = () => clock.wakeAt(time.now());
    await clock.wakeAt(time.now());
    await pass(10 * DRAIN_GAP_MS - 1);
    expect(ticks).toBe(10);
  });

  test('a second ring while a tick runs does not make a second tick', async () => {
    const going = Promise.withResolvers<void>();
    onTick = () => going.promise;
    await clock.wakeAt(time.now());
    const ringing = alarm.ringIfDue();
    await clock.ring();
    expect(ticks).toBe(1);
    going.resolve();
    await ringing;
    expect(ringsIn()).toBe(DRAIN_GAP_MS);
  });
});

describe('the alarm is always set again', () => {
  test('a tick that fails for ever is tried ever more seldom, and never given up', async () => {
    onTick = () => Promise.reject(new LeaseholdError('database_unavailable', 'It is gone.'));
    const pauses: (number | null)[] = [];
    await clock.wakeAt(time.now());
    for (let tried = 0; tried < 20; tried += 1) {
      await pass(0);
      pauses.push(ringsIn());
      time.jump(ringsIn() ?? 0);
    }
    expect(pauses.slice(0, 3)).toEqual([FAILED_TICK_MS, 2 * FAILED_TICK_MS, 4 * FAILED_TICK_MS]);
    expect(pauses.at(-1)).toBe(MAX_LOOK_AGAIN_MS);
    expect(log.lines.at(0)).toMatchObject({
      level: 'error',
      event: 'tick_failed',
      fields: { code: 'database_unavailable' },
    });
    onTick = async () => undefined;
    await pass(0);
    onTick = () => Promise.reject(new Error('again'));
    await clock.wakeAt(time.now());
    await pass(DRAIN_GAP_MS);
    expect(ringsIn()).toBe(FAILED_TICK_MS);
  });

  test('the cron does not make a failing tick come sooner', async () => {
    onTick = () => Promise.reject(new Error('no schema'));
    await clock.check();
    for (let failed = 0; failed < 8; failed += 1) {
      await pass(0);
      if (failed < 7) time.jump(ringsIn() ?? 0);
    }
    const before = ringsIn();
    await clock.check();
    expect(ringsIn()).toBe(before);
  });

  test('a tick that hangs is ended, and counts as failed', async () => {
    let stopped = false;
    onTick = (signal) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          stopped = true;
        });
      });
    await clock.wakeAt(time.now());
    const ringing = alarm.ringIfDue();
    await time.advance(MAX_TICK_MS);
    await ringing;
    expect(stopped).toBe(true);
    expect(ringsIn()).toBe(FAILED_TICK_MS);
  });

  test('a process that dies in the middle of a tick leaves an alarm behind', async () => {
    onTick = () => new Promise(() => undefined);
    await clock.wakeAt(time.now());
    void alarm.ringIfDue();
    await time.advance(0);
    clock = newClock();
    onTick = async () => undefined;
    await pass(WAKE_STUCK_MS);
    expect(ticks).toBe(2);
  });

  test('B.1 an alarm that did not ring in its time is set again by whoever asks, and by the cron', async () => {
    await clock.wakeAt(time.now() + 1000);
    time.jump(1000 + WAKE_STUCK_MS);
    await clock.wakeAt(time.now() + 60_000);
    expect(alarm.sets).toBe(1); // late, as it may be
    time.jump(1);
    await clock.wakeAt(time.now() + 60_000);
    expect(ringsIn()).toBe(0);
    expect(log.events).toEqual(['wake_alarm_stuck']);
    time.jump(WAKE_STUCK_MS + 1);
    await clock.check();
    expect(ringsIn()).toBe(0);
  });

  test('S1.16 storage that is lost: the next tick of the cron looks into the database', async () => {
    await clock.wakeAt(time.now());
    await pass(60_000);
    await clock.check();
    expect(ticks).toBe(1);
    alarm.wipe();
    await clock.check();
    expect(ringsIn()).toBe(0);
    await pass(0);
    expect(ticks).toBe(2);
  });

  test('an alarm that is lost alone: the sweep comes all the same', async () => {
    await clock.wakeAt(time.now());
    await pass(600_000);
    alarm.lose();
    await clock.check();
    expect(ringsIn()).toBe(HOUR_MS - 600_000);
  });

  test('one that failed and was dropped rings at the next tick of the cron', async () => {
    onTick = () => Promise.reject(new Error('not now'));
    await clock.wakeAt(time.now());
    await pass(0);
    alarm.lose();
    time.jump(DRAIN_GAP_MS);
    await clock.check();
    expect(ringsIn()).toBe(0);
  });
});
