import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { fireSchedules } from '../../functions/scheduled/schedules.ts';
import { getSchedule } from '../../shared/queue/get-schedule.ts';
import { createTickWorld, dailyAt } from './support/tick-world.ts';
import type { TickWorld } from './support/tick-world.ts';

let world: TickWorld;
beforeAll(async () => {
  world = await createTickWorld();
});
afterAll(() => world.close());
beforeEach(() => world.reset());

const MINUTE_MS = 60_000;
const DAY_SECONDS = 24 * 60 * 60;

async function minutesFired(name: string): Promise<number> {
  return (await world.fired(name)).length;
}

describe('case H5 a minute schedule whose ticks stop', () => {
  test('for 30 s and 61 s: no slot is lost', async () => {
    for (const seconds of [30, 61]) {
      const name = `stopped ${seconds}`;
      await world.put(name);
      const stopped = await world.ticksStoppedFor(name, seconds);
      await fireSchedules(world.deps());
      const now = Date.parse((await getSchedule(world.http.sql, { name }))?.decided_until ?? '');
      const first = Math.floor(Date.parse(stopped.decided_until) / MINUTE_MS) + 1;
      expect(await minutesFired(name)).toBe(Math.floor(now / MINUTE_MS) - first + 1);
    }
  });

  test.each([
    ['skip', 10 * 60, 1, 2],
    ['latest', 10 * 60, 1, 2],
    ['all', 10 * 60, 9, 11],
    ['skip', 3 * DAY_SECONDS, 1, 2],
    ['latest', 3 * DAY_SECONDS, 1, 2],
    ['all', 3 * DAY_SECONDS, 11, 12],
  ] as const)('missed %s, for %d s: %d to %d jobs', async (missed, seconds, least, most) => {
    await world.put('stopped', { missed });
    await world.ticksStoppedFor('stopped', seconds);
    await fireSchedules(world.deps());
    const jobs = await minutesFired('stopped');
    expect(jobs).toBeGreaterThanOrEqual(least);
    expect(jobs).toBeLessThanOrEqual(most);
    expect(await fireSchedules(world.deps())).toMatchObject({ jobs: 0 });
    expect(world.log.events.includes('schedule_slots_missed')).toBe(jobs < seconds / 60 - 1);
  });

  test.each([
    ['skip', 0],
    ['latest', 1],
    ['all', 3],
  ] as const)('a daily slot missed for 3 days, %s: %d', async (missed, jobs) => {
    await world.put('daily', { cron: dailyAt(-120), missed });
    await world.ticksStoppedFor('daily', 3 * DAY_SECONDS);
    await fireSchedules(world.deps());
    expect(await minutesFired('daily')).toBe(jobs);
  });

  test('a slot older than a day has a job all the same', async () => {
    await world.put('daily', { cron: dailyAt(-120), missed: 'all' });
    await world.ticksStoppedFor('daily', 3 * DAY_SECONDS);
    await fireSchedules(world.deps());
    const [oldest] = await world.fired('daily');
    expect(Date.parse(oldest?.slot ?? '')).toBeLessThan(Date.now() - 2 * DAY_SECONDS * 1000);
  });
});
