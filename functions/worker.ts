import { LeaseholdError } from '../shared/errors.ts';
import type { Log } from '../shared/ports.ts';
import { createApp } from './app.ts';
import { createJsonLog } from './json-log.ts';
import { notConfigured } from './not-configured.ts';
import { tick } from './scheduled/tick.ts';
import { NO_WAKE_CLOCK } from './wake/no-wake-clock.ts';
import { webClock } from './web-ports.ts';
import { invocationDeps, wakeClockOf } from './worker-deps.ts';
import type { WorkerEnv } from './worker-deps.ts';

export { WakeClock } from './wake/durable-wake-clock.ts';

/** The Cloudflare entry: turns requests and cron events of Workers into calls of the platform-free app. */
export default {
  async fetch(request, env, execution): Promise<Response> {
    try {
      return await createApp(invocationDeps(env, execution)).fetch(request);
    } catch (error) {
      return notConfigured(error, logOf());
    }
  },

  async scheduled(_controller, env, execution): Promise<void> {
    try {
      if (await wakeClockChecked(env)) return;
      await tick({ ...invocationDeps(env, execution), wake: NO_WAKE_CLOCK });
    } catch (error) {
      const code = error instanceof LeaseholdError ? error.code : 'internal_error';
      logOf().error('tick_failed', { code });
      throw error; // the platform shows the event as failed
    }
  },
} satisfies ExportedHandler<WorkerEnv>;

/**
 * With a wake clock the cron leaves the database alone: it only asks whether the clock is alive, and the clock looks into
 * the database when its time has come. Without one, or when it does not answer, this tick looks itself.
 */
async function wakeClockChecked(env: WorkerEnv): Promise<boolean> {
  const clock = wakeClockOf(env);
  if (clock === undefined) return false;
  try {
    await clock.check();
    return true;
  } catch {
    logOf().warn('wake_failed', { reason: 'error' });
    return false;
  }
}

function logOf(): Log {
  return createJsonLog(webClock);
}
