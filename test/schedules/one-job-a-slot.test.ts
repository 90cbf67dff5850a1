import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { fireSchedules } from '../../functions/scheduled/schedules.ts';
import { dueSchedules } from '../../shared/queue/due-schedules.ts';
import { slotTimes } from '../../shared/cron.ts';
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

  test('not even when its job is gone, or too old to have the same id again', async () => {
    await world.put('daily', { cron: dailyAt(-120), missed: 'all' });
    await world.ticksStoppedFor('daily', 4 * 24 * 60 * 60);
    expect(await fireSchedules(world.deps())).toMatchObject({ jobs: 4 });
    // As retention leaves it, long after.
    await world.database.pool.query('delete from leasehold.job_state; delete from leasehold.jobs');
    await world.ticksStoppedFor('daily', 4 * 24 * 60 * 60);
    expect(await fireSchedules(world.deps())).toMatchObject({ decided: 1, jobs: 0 });
    const { rows } = await world.database.pool.query('select 1 from leasehold.jobs');
    expect(rows).toEqual([]);
  });

  test('a job of someone else under the id of a slot does not stop the schedule', async () => {
    await world.put('taken', { missed: 'latest', cron: dailyAt(-10) });
    await world.ticksStoppedFor('taken', 20 * 60);
    const [due] = await dueSchedules(world.http.sql, { limit: 1 });
    const now = due?.now.getTime() ?? 0;
    const times = slotTimes(due?.schedule.cron ?? '', 'UTC');
    const [slot = 0] = times.between(now - 20 * MINUTE_MS, now, 1);
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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
