import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { fireSchedule } from '../../shared/queue/fire-schedule.ts';
import { getSchedule } from '../../shared/queue/get-schedule.ts';
import { slotJobId } from '../../shared/slot-job-id.ts';
import { createTickWorld, dailyAt } from './support/tick-world.ts';
import type { TickWorld } from './support/tick-world.ts';

let world: TickWorld;
beforeAll(async () => {
  world = await createTickWorld();
});
afterAll(() => world.close());
beforeEach(() => world.reset());

const MINUTE_MS = 60_000;

async function minutesFired(name: string): Promise<number> {
  return (await world.fired(name)).length;
}

describe('overlap', () => {
  test.each([
    ['allow', 2],
    ['skip', 1],
  ] as const)(
    '%s, while the job of the slot before is unfinished: %d jobs',
    async (overlap, jobs) => {
      await world.put('overlap', { cron: dailyAt(-60), overlap });
      await fireSlot('overlap', -60 - 24 * 60);
      await fireSlot('overlap', -60);
      expect(await minutesFired('overlap')).toBe(jobs);
    },
  );

  test('skip: when that job has ended, slots fire again', async () => {
    await world.put('overlap', { cron: dailyAt(-60), overlap: 'skip' });
    await fireSlot('overlap', -60 - 24 * 60);
    await world.database.pool.query('delete from leasehold.job_state');
    await fireSlot('overlap', -60);
    expect(await minutesFired('overlap')).toBe(2);
  });

  async function fireSlot(name: string, minutesFromNow: number): Promise<void> {
    const schedule = await getSchedule(world.http.sql, { name });
    const now = Date.now();
    const slot = Math.floor(now / MINUTE_MS + minutesFromNow) * MINUTE_MS;
    await fireSchedule(world.http.sql, {
      name,
      decidedUntil: schedule?.decided_until ?? '',
      slots: [
        {
          at: new Date(slot).toISOString(),
          job_id: await slotJobId({ schedule: name, slot, now, round: 0 }),
        },
      ],
      until: new Date(now).toISOString(),
      nextSlotAt: null,
    });
  }
});
