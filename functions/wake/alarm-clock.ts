import { waitAtMost } from '../../shared/bounded-wait.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import {
  DRAIN_GAP_MS,
  FAILED_TICK_MS,
  MAX_LOOK_AGAIN_MS,
  MAX_TICK_MS,
  WAKE_STUCK_MS,
} from '../../shared/limits.ts';
import type { Clock, Log, Timer } from '../../shared/ports.ts';
import type { WakeClock } from '../../shared/wake/wake-clock.ts';

/** Storage with one alarm, as a durable object has it. */
export interface AlarmStorage {
  get<Value = unknown>(key: string): Promise<Value | undefined>;
  put<Value>(key: string, value: Value): Promise<void>;
  /** When the alarm will ring; null: it is not set, or is ringing. */
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
  deleteAlarm(): Promise<void>;
}

export interface AlarmClockOptions {
  readonly storage: AlarmStorage;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly log: Log;
  /** Looks into the database; asks this clock for the next time before it ends. */
  readonly tick: (signal: AbortSignal) => Promise<void>;
  /** Milliseconds after which the database is looked at anyway; undefined: never. */
  readonly sweepMs: () => number | undefined;
}

/** When the last look into the database that went well began. */
const LOOKED_AT = 'looked_at';
/** Looks that have failed since. */
const FAILED = 'failed';
const NEVER = Number.POSITIVE_INFINITY;

/**
 * The wake clock over storage with one alarm: the earliest instant that anybody asked for is the alarm, and when it rings,
 * the tick runs here, with budgets of its own and never twice at a time. What was asked for before the tick began is
 * forgotten with it: its commit came first, so the tick saw it in the database and asks for what is next. What is asked for
 * meanwhile is kept.
 *
 * Durable objects drop an alarm whose handler has failed six times. So the handler never fails: it sets the next alarm
 * before anything can go wrong, and again at its end, later each time that the tick failed. An alarm that was not rung in its
 * time (it happens) is set again by whoever comes by.
 */
export class AlarmClock implements WakeClock {
  readonly #options: AlarmClockOptions;
  /** The earliest instant asked for since the running tick began; undefined: none runs. */
  #askedMeanwhile: number | undefined;
  #endedAt = -NEVER;

  constructor(options: AlarmClockOptions) {
    this.#options = options;
  }

  async wakeAt(at: number): Promise<void> {
    if (this.#askedMeanwhile !== undefined) {
      this.#askedMeanwhile = Math.min(this.#askedMeanwhile, at);
    }
    await this.#ringBy(at);
  }

  /**
   * What the cron asks instead of the database: whether the alarm is as it should be. A clock that has never looked, or has
   * lost its storage, looks now, and one whose alarm was lost within a sweep's time.
   */
  async check(): Promise<void> {
    const { storage, clock } = this.#options;
    const failed = (await storage.get<number>(FAILED)) ?? 0;
    const lookedAt = await storage.get<number>(LOOKED_AT);
    if (failed > 0 && (await storage.getAlarm()) !== null) await this.#ringBy(NEVER);
    else if (failed > 0 || lookedAt === undefined) await this.#ringBy(clock.now());
    else await this.#ringBy(lookedAt + (this.#options.sweepMs() ?? NEVER));
  }

  /** The alarm rings. Rejects only when the storage itself fails; then the platform rings again. */
  async ring(): Promise<void> {
    const { storage, clock } = this.#options;
    const startedAt = clock.now();
    if (this.#askedMeanwhile !== undefined) return await this.wakeAt(startedAt);
    this.#askedMeanwhile = NEVER;
    try {
      // Should this process die, another rings then.
      await storage.setAlarm(startedAt + WAKE_STUCK_MS);
      const next = await this.#look(startedAt);
      this.#endedAt = clock.now();
      const at = Math.max(Math.min(next, this.#askedMeanwhile), this.#endedAt + DRAIN_GAP_MS);
      this.#askedMeanwhile = undefined;
      if (at < NEVER) await storage.setAlarm(at);
      else await storage.deleteAlarm();
    } finally {
      this.#askedMeanwhile = undefined;
    }
  }

  /** @returns when to look again whatever is asked for */
  async #look(startedAt: number): Promise<number> {
    const { storage, clock, timer, log } = this.#options;
    const ticked = await waitAtMost(timer, MAX_TICK_MS, this.#options.tick);
    const failed = (await storage.get<number>(FAILED)) ?? 0;
    if (ticked.kind === 'value') {
      await storage.put(LOOKED_AT, startedAt);
      if (failed > 0) await storage.put(FAILED, 0);
      return startedAt + (this.#options.sweepMs() ?? NEVER);
    }
    const error = ticked.kind === 'error' ? ticked.error : undefined;
    const code = error instanceof LeaseholdError ? error.code : 'internal_error';
    log.error('tick_failed', { code, reason: ticked.kind });
    await storage.put(FAILED, failed + 1);
    return clock.now() + Math.min(FAILED_TICK_MS * 2 ** failed, MAX_LOOK_AGAIN_MS);
  }

  /** Moves the alarm forward to `at`, or rings one at last that should have rung. */
  async #ringBy(at: number): Promise<void> {
    const { storage, clock, log } = this.#options;
    const now = clock.now();
    const earliest = Math.max(at, now, this.#endedAt + DRAIN_GAP_MS);
    const alarm = await storage.getAlarm();
    if (alarm !== null && alarm < now - WAKE_STUCK_MS) {
      log.warn('wake_alarm_stuck', { late_ms: now - alarm });
      await storage.setAlarm(now);
    } else if (earliest < (alarm ?? NEVER)) {
      await storage.setAlarm(earliest);
    }
  }
}
