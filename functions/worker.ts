import { LeaseholdError } from '../shared/errors.ts';
import type { Log } from '../shared/ports.ts';
import { createApp } from './app.ts';
import { createJsonLog } from './json-log.ts';
import { notConfigured } from './not-configured.ts';
import { cronTick } from './scheduled/cron-tick.ts';
import { webClock } from './web-ports.ts';
import { invocationDeps, wakeClockOf } from './worker-deps.ts';
import type { WorkerEnv } from './worker-deps.ts';

export { EventFeed } from './feed/durable-event-feed.ts';
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
      await cronTick(invocationDeps(env, execution), wakeClockOf(env));
    } catch (error) {
      const code = error instanceof LeaseholdError ? error.code : 'internal_error';
      logOf().error('tick_failed', { code });
      throw error; // the platform shows the event as failed
    }
  },
} satisfies ExportedHandler<WorkerEnv>;

function logOf(): Log {
  return createJsonLog(webClock);
}
