import type { AppDeps } from '../deps.ts';
import { NO_WAKE_CLOCK } from '../wake/no-wake-clock.ts';
import { tick } from './tick.ts';

/** A wake clock that can be asked whether it is alive. */
export interface WatchedClock {
  /** Mends what is wrong with its alarm; rejects when it does not answer. */
  check(): Promise<void>;
}

/**
 * A tick of the cron. With a wake clock it leaves the database alone: it only asks whether the clock is alive, and the clock
 * looks into the database when its time has come. Without one, or when it does not answer, this tick looks itself.
 *
 * @throws {Error} what `tick` throws
 */
export async function cronTick(deps: AppDeps, clock: WatchedClock | undefined): Promise<void> {
  if (clock !== undefined) {
    try {
      await clock.check();
      return;
    } catch {
      deps.log.warn('wake_failed', { reason: 'error' });
    }
  }
  await tick({ ...deps, wake: NO_WAKE_CLOCK });
}
