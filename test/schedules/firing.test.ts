import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { fireSchedules } from '../../functions/scheduled/schedules.ts';
import { deleteSchedule } from '../../shared/queue/delete-schedule.ts';
import { dueSchedules } from '../../shared/queue/due-schedules.ts';
import { fireSchedule } from '../../shared/queue/fire-schedule.ts';
import { getSchedule } from '../../shared/queue/get-schedule.ts';
import type { MissedPolicy } from '../../shared/queue/schedule.ts';
import { setSchedulePaused } from '../../shared/queue/set-schedule-paused.ts';
import { slotJobId } from '../../shared/slot-job-id.ts';
import { createTickWorld } from './support/tick-world.ts';
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
    await world.put('daily', { cron: dailyAt(-120), missed: missed satisfies MissedPolicy });
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

describe('case H5 one job a slot, for ever', () => {
  test('two ticks at once, one waiting for the row of the other', async () => {
    await world.put('shared');
    await world.ticksStoppedFor('shared', 61);
    const [due] = await dueSchedules(world.http.sql, { limit: 1 });
    const slot = Math.floor((due?.now.getTime() ?? 0) / MINUTE_MS) * MINUTE_MS;
    const first = await world.database.pool.connect();
    try {
      await first.query('begin');
      const { rows } = await first.query(
        'select leasehold.fire_schedule($1, $2, $3, $4, null) as made',
        [
          'shared',
          due?.schedule.decided_until,
          JSON.stringify([
            {
              at: new Date(slot).toISOString(),
              job_id: await slotJobId({ schedule: 'shared', slot, now: slot, round: 0 }),
            },
          ]),
          due?.now,
        ],
      );
      expect(rows).toEqual([{ made: 1 }]);
      const second = fireSchedules(world.deps());
      await world.blocked('fire_schedule');
      await first.query('commit');
      expect(await second).toMatchObject({ decided: 0, elsewhere: 1, jobs: 0, failed: 0 });
    } finally {
      first.release();
    }
    expect(await minutesFired('shared')).toBe(1);
  });

  test('many ticks at once over many schedules', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `many ${at}`);
    for (const name of names) {
      await world.put(name, { missed: 'all' });
      await world.ticksStoppedFor(name, 300);
    }
    const reports = await Promise.all(Array.from({ length: 4 }, () => fireSchedules(world.deps())));
    expect(sum(reports.map(({ decided }) => decided))).toBe(names.length);
    for (const name of names) {
      const slots = (await world.fired(name)).map(({ slot }) => Date.parse(slot) / MINUTE_MS);
      expect(slots.length).toBeGreaterThanOrEqual(4);
      expect(slots).toEqual(slots.map((_, at) => (slots[0] ?? 0) + at));
    }
  });

  test.each(['drop_before', 'drop_after_commit'] as const)(
    'a tick killed halfway (%s), and the next one: whole schedules, each slot once',
    async (kind) => {
      const names = ['killed 1', 'killed 2', 'killed 3'];
      for (const name of names) {
        await world.put(name, { missed: 'all' });
        await world.ticksStoppedFor(name, 300);
      }
      // Every try of the second firing fails; the tick dies with it.
      const killed = new AbortController();
      const { sql } = world.deps();
      let firings = 0;
      const dying = world.deps({
        sql: {
          query: (text, values, options) => {
            if (text.includes('fire_schedule')) firings += 1;
            if (firings === 2) {
              world.http.endpoint.faults.next({ kind }, { match: /fire_schedule/ });
              killed.abort(new Error('killed'));
            }
            return sql.query(text, values, { ...options, signal: killed.signal });
          },
        },
      });
      await expect(fireSchedules(dying, killed.signal)).rejects.toThrow('killed');
      world.http.endpoint.faults.clear();

      await fireSchedules(world.deps());
      for (const name of names) {
        const slots = (await world.fired(name)).map(({ slot }) => Date.parse(slot) / MINUTE_MS);
        expect(slots.length).toBeGreaterThanOrEqual(4);
        expect(slots).toEqual(slots.map((_, at) => (slots[0] ?? 0) + at));
      }
    },
  );

  test('an answer that was lost makes no second job', async () => {
    await world.put('lost');
    await world.ticksStoppedFor('lost', 61);
    const { fired } = world.http.endpoint.faults.next(
      { kind: 'drop_after_commit' },
      { match: /fire_schedule/ },
    );
    await fireSchedules(world.deps());
    await fired;
    const jobs = await minutesFired('lost');
    await fireSchedules(world.deps());
    expect(await minutesFired('lost')).toBe(jobs);
    expect(jobs).toBeGreaterThan(0);
  });

  test('a slot that is already there is not fired again, whatever the schedule believes', async () => {
    await world.put('again', { missed: 'all' });
    await world.ticksStoppedFor('again', 300);
    await fireSchedules(world.deps());
    const before = await world.fired('again');
    await world.ticksStoppedFor('again', 300);
    await fireSchedules(world.deps());
    expect((await world.fired('again')).slice(0, before.length)).toEqual(before);
    const { rows } = await world.database.pool.query<{ jobs: number }>(
      "select count(*)::int as jobs from leasehold.jobs where headers ->> 'schedule' = 'again'",
    );
    expect(rows[0]?.jobs).toBe((await world.fired('again')).length);
  });

  test('a job of someone else under the id of a slot does not stop the schedule', async () => {
    await world.put('taken', { missed: 'latest', cron: dailyAt(-10) });
    await world.ticksStoppedFor('taken', 20 * 60);
    const [due] = await dueSchedules(world.http.sql, { limit: 1 });
    const now = due?.now.getTime() ?? 0;
    const slot = Math.floor((now - 10 * MINUTE_MS) / MINUTE_MS) * MINUTE_MS;
    const taken = await slotJobId({ schedule: 'taken', slot, now, round: 0 });
    await world.database.pool.query(
      "select leasehold.enqueue($1, 'other', 'other', '{}', p_actor => 'someone')",
      [taken],
    );
    expect(await fireSchedules(world.deps())).toMatchObject({ decided: 1, jobs: 1, failed: 0 });
    const [fired] = await world.fired('taken');
    expect(fired?.jobId).toBe(await slotJobId({ schedule: 'taken', slot, now, round: 1 }));
  });
});

describe('one schedule does not stop the others', () => {
  test('a time that this runtime does not understand', async () => {
    await world.put('broken', { zone: 'UTC' });
    await world.database.pool.query(
      "update leasehold.schedules set zone = 'Mars/Base' where name = 'broken'",
    );
    await world.put('whole');
    await world.ticksStoppedFor('broken', 61);
    await world.ticksStoppedFor('whole', 61);
    expect(await fireSchedules(world.deps())).toMatchObject({ decided: 1, failed: 1 });
    expect(world.log.lines).toContainEqual({
      level: 'error',
      event: 'schedule_failed',
      fields: { schedule: 'broken', code: 'internal_error' },
    });
    expect(await minutesFired('whole')).toBeGreaterThan(0);
  });

  test('more than one read holds are all decided by one tick', async () => {
    await world.database.pool.query(
      `select leasehold.put_schedule(
         jsonb_build_object('name', 's' || i, 'cron', '* * * * *', 'zone', 'UTC', 'queue', 'q', 'type', 't',
           'payload', i),
         clock_timestamp() - interval '1 second', 'test')
       from generate_series(1, 230) i`,
    );
    expect(await fireSchedules(world.deps())).toMatchObject({ decided: 230, failed: 0 });
    expect(await dueSchedules(world.http.sql, { limit: 1 })).toEqual([]);
  });
});

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

/** A daily expression in UTC for the minute that lies so far from the present one. */
function dailyAt(minutesFromNow: number): string {
  const at = new Date(Date.now() + minutesFromNow * MINUTE_MS);
  return `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
