import { DurableObject } from 'cloudflare:workers';

import { createJsonLog } from '../json-log.ts';
import { tick } from '../scheduled/tick.ts';
import { webClock, webTimer } from '../web-ports.ts';
import { safetySweepMs, tickDeps } from '../worker-deps.ts';
import type { WakeClockStub, WorkerEnv } from '../worker-deps.ts';
import { AlarmClock } from './alarm-clock.ts';

/**
 * The wake clock of a Cloudflare deployment: one durable object whose alarm runs the tick. An alarm has budgets of its own
 * (fresh subrequests, fifteen minutes), rings to the millisecond in the ordinary case and up to a minute late when the object
 * moves, and never twice at a time, so drains do not pile up. All it stores is a few numbers; delete them and the next tick
 * of the cron looks into the database and finds everything again.
 */
export class WakeClock extends DurableObject<WorkerEnv> implements WakeClockStub {
  readonly #clock: AlarmClock;

  constructor(state: DurableObjectState, env: WorkerEnv) {
    super(state, env);
    this.#clock = new AlarmClock({
      storage: state.storage,
      clock: webClock,
      timer: webTimer,
      log: createJsonLog(webClock),
      // Settings are read where their faults are caught: an object that cannot be made loses its alarm.
      tick: async (signal) => await tick(tickDeps(env, this.#clock), signal),
      sweepMs: () => safetySweepMs(env),
    });
  }

  async wakeAt(at: number): Promise<void> {
    await this.#clock.wakeAt(at);
  }

  async check(): Promise<void> {
    await this.#clock.check();
  }

  override async alarm(): Promise<void> {
    await this.#clock.ring();
  }
}
