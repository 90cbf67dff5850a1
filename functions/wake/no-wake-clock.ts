import type { WakeClock } from '../../shared/wake/wake-clock.ts';

/** For a deployment without a wake clock: its cron comes round anyway, and each of its ticks looks into the database. */
export const NO_WAKE_CLOCK: WakeClock = { wakeAt: async () => undefined };
