import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { fireSchedules } from '../../functions/scheduled/schedules.ts';
import { deleteSchedule } from '../../shared/queue/delete-schedule.ts';
import { getSchedule } from '../../shared/queue/get-schedule.ts';
import { setSchedulePaused } from '../../shared/queue/set-schedule-paused.ts';
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

describe('case R12 a schedule that is changed', () => {
  test('new times count from now: nothing of the old ones fires, not even what was overdue', async () => {
    await world.put('edited');
    await world.ticksStoppedFor('edited', 61);
    await world.put('edited', { cron: dailyAt(-60) });
    expect(await fireSchedules(world.deps())).toMatchObject({ decided: 0 });
    expect(await world.fired('edited')).toEqual([]);
    const [next] = await nextSlot('edited');
    expect(Date.parse(next ?? '') - Date.now()).toBeGreaterThan(22 * 60 * MINUTE_MS);
  });

  test('a tick that had read the old times fires nothing', async () => {
    await world.put('edited');
    await world.ticksStoppedFor('edited', 61);
    const { sql } = world.deps();
    const report = await fireSchedules(
      world.deps({
        sql: {
          query: async (text, values, options) => {
            if (text.includes('fire_schedule')) await world.put('edited', { cron: dailyAt(-60) });
            return await sql.query(text, values, options);
          },
        },
      }),
    );
    expect(report).toMatchObject({ decided: 0, elsewhere: 1, jobs: 0 });
    expect(await world.fired('edited')).toEqual([]);
  });

  test('deleted and made again under its name: new times, no old slot, none twice', async () => {
    await world.put('again', { missed: 'all' });
    await world.ticksStoppedFor('again', 300);
    await fireSchedules(world.deps());
    const before = await world.fired('again');
    await deleteSchedule(world.http.sql, { name: 'again' });
    expect(await fireSchedules(world.deps())).toMatchObject({ decided: 0 });
    await world.put('again', { cron: dailyAt(-60), missed: 'all' });
    await fireSchedules(world.deps());
    expect(await world.fired('again')).toEqual(before);
  });

  test('made again while its last job runs: overlap skip still sees it', async () => {
    await world.put('again', { overlap: 'skip' });
    await world.ticksStoppedFor('again', 61);
    await fireSchedules(world.deps());
    const [{ jobId } = { jobId: null }] = (await world.fired('again')).toReversed();
    await deleteSchedule(world.http.sql, { name: 'again' });
    expect(await world.put('again', { overlap: 'skip' })).toMatchObject({ last_job_id: jobId });
  });

  test('put again with the same times, an overdue slot still fires', async () => {
    await world.put('same');
    const stopped = await world.ticksStoppedFor('same', 61);
    const put = await world.put('same', { payload: 'new' });
    expect(put).toMatchObject({ decided_until: stopped.decided_until, payload: 'new' });
    await fireSchedules(world.deps());
    expect(await minutesFired('same')).toBeGreaterThan(0);
  });

  test('paused, it does not fire; resumed, it does not make up', async () => {
    const { sql } = world.http;
    await world.put('paused', { missed: 'all' });
    await world.ticksStoppedFor('paused', 300);
    await setSchedulePaused(sql, { name: 'paused', paused: true, nextSlotAt: null });
    expect(await fireSchedules(world.deps())).toMatchObject({ decided: 0 });
    const nextSlotAt = new Date(Date.now() + MINUTE_MS).toISOString();
    await setSchedulePaused(sql, { name: 'paused', paused: false, nextSlotAt });
    expect(await fireSchedules(world.deps())).toMatchObject({ decided: 0 });
    expect(await world.fired('paused')).toEqual([]);
  });

  test('resuming what is not paused decides nothing', async () => {
    await world.put('running');
    const stopped = await world.ticksStoppedFor('running', 61);
    const nextSlotAt = new Date(Date.now() + MINUTE_MS).toISOString();
    const resumed = await setSchedulePaused(world.http.sql, {
      name: 'running',
      paused: false,
      nextSlotAt,
    });
    expect(resumed).toMatchObject({
      decided_until: stopped.decided_until,
      next_slot_at: stopped.next_slot_at,
    });
  });
});

describe('case R15 the rules of a zone change between two ticks', () => {
  test('an instant that the old rules gave and the new ones do not is no slot', async () => {
    await world.put('moved', { cron: dailyAt(-60) });
    // The old rules had put the slot to this instant, which is none by those of today.
    await world.database.pool.query(
      `update leasehold.schedules
       set decided_until = clock_timestamp() - interval '30 minutes',
         next_slot_at = clock_timestamp() - interval '1 minute'`,
    );
    expect(await fireSchedules(world.deps())).toMatchObject({ decided: 1, jobs: 0 });
    const [next] = await nextSlot('moved');
    expect(next).toMatch(/:00\.000Z$/);
    expect(Date.parse(next ?? '')).toBeGreaterThan(Date.now());
  });

  test('a slot that the new rules brought forward is made up for', async () => {
    await world.put('earlier', { cron: dailyAt(-60) });
    await world.database.pool.query(
      `update leasehold.schedules
       set decided_until = clock_timestamp() - interval '2 hours',
         next_slot_at = clock_timestamp() - interval '1 second'`,
    );
    expect(await fireSchedules(world.deps())).toMatchObject({ decided: 1, jobs: 1 });
  });
});

async function nextSlot(name: string): Promise<(string | null | undefined)[]> {
  return [(await getSchedule(world.http.sql, { name }))?.next_slot_at];
}
