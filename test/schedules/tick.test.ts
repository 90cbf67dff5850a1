import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { tick } from '../../functions/scheduled/tick.ts';
import { MAX_DRAIN_POKES } from '../../shared/limits.ts';
import { lastTurn } from '../../shared/queue/last-turn.ts';
import { SERVED, createTickWorld } from './support/tick-world.ts';
import type { TickWorld } from './support/tick-world.ts';

let world: TickWorld;
beforeAll(async () => {
  world = await createTickWorld();
});
afterAll(() => world.close());
beforeEach(() => world.reset());

const MINUTE_MS = 60_000;

async function minutes(name: string): Promise<number[]> {
  return (await world.fired(name)).map(({ slot }) => Date.parse(slot) / MINUTE_MS);
}

/** Slots without a gap and without a double, from the first to the last. */
function unbroken(slots: readonly number[]): number[] {
  return slots.map((_, at) => (slots[0] ?? 0) + at);
}

describe('a tick', () => {
  test('fires first, so that the same tick pokes for what it fired', async () => {
    await world.put('first');
    await world.ticksStoppedFor('first', 61);
    await tick(world.deps());
    expect(world.pokes).toContainEqual({ queue: SERVED, depth: 0, drain: true });
  });

  test.each([
    ['schedules', 'due_schedules', ['drained', 'retained']],
    ['drain', 'due_queues', ['schedules_fired', 'retained']],
    ['retain', 'retain\\(', ['schedules_fired', 'drained']],
  ])('goes on when %s fails, and fails as a whole', async (part, routine, others) => {
    await world.put('any');
    await world.ticksStoppedFor('any', 61);
    world.http.endpoint.faults.next(
      { kind: 'sql_error', code: '42501' },
      { match: new RegExp(`leasehold\\.${routine}`), times: 1000 },
    );
    await expect(tick(world.deps())).rejects.toMatchObject({ code: 'database_error' });
    expect(world.log.lines).toContainEqual({
      level: 'error',
      event: 'tick_part_failed',
      fields: { part, code: 'database_error' },
    });
    expect(world.log.events).toEqual(expect.arrayContaining(others));
    expect(await lastTurn(world.http.sql, { name: 'tick' })).toEqual({ at: null });
  });

  test('retains once an hour, whoever comes first', async () => {
    await Promise.all([tick(world.deps()), tick(world.deps()), tick(world.deps())]);
    await tick(world.deps());
    expect(world.log.events.filter((event) => event === 'retained')).toHaveLength(1);
  });

  test('with nothing to do asks a few questions and writes nothing', async () => {
    await tick(world.deps());
    const before = await writes();
    const requests = world.http.endpoint.requests;
    await tick(world.deps());
    expect(world.http.endpoint.requests - requests).toBeLessThanOrEqual(5);
    expect(await writes()).toBe(before);
  });
});

describe('case R22 the first tick after idle fails', () => {
  test.each([
    ['the database does not wake', { kind: 'sql_error', code: '57P03' }],
    ['the platform in between answers 500', { kind: 'status', status: 500 }],
    ['the connection drops', { kind: 'drop_before' }],
  ] as const)('%s: the next one covers everything', async (_, fault) => {
    await world.put('idle', { missed: 'all' });
    await world.ticksStoppedFor('idle', 300);
    world.http.endpoint.faults.next(fault, { times: 1000 });
    const cold = { ...world.deps(), schema: { verified: false } };
    await expect(tick(cold)).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(await minutes('idle')).toEqual([]);

    world.http.endpoint.faults.clear();
    await tick(cold);
    const slots = await minutes('idle');
    expect(slots.length).toBeGreaterThanOrEqual(5);
    expect(slots).toEqual(unbroken(slots));
    expect(world.pokes.length).toBeGreaterThan(0);
  });

  test('one lost answer does not even fail it', async () => {
    await world.put('idle');
    await world.ticksStoppedFor('idle', 61);
    world.http.endpoint.faults.next({ kind: 'drop_before' });
    await tick({ ...world.deps(), schema: { verified: false } });
    expect((await minutes('idle')).length).toBeGreaterThan(0);
  });

  test('a tick that worked leaves a note, one that failed leaves none', async () => {
    world.http.endpoint.faults.next({ kind: 'sql_error', code: '57P03' }, { times: 1000 });
    await expect(tick(world.deps())).rejects.toMatchObject({ code: 'database_unavailable' });
    world.http.endpoint.faults.clear();
    expect(await lastTurn(world.http.sql, { name: 'tick' })).toEqual({ at: null });
    await tick(world.deps());
    const { at } = await lastTurn(world.http.sql, { name: 'tick' });
    expect(at).toBeInstanceOf(Date);
    await tick(world.deps());
    expect(await lastTurn(world.http.sql, { name: 'tick' })).toEqual({ at });
  });
});

describe('case R30 a tick that takes long, whose caller hangs up and calls again', () => {
  const NAMES = Array.from({ length: 12 }, (_, at) => `slow ${at}`);
  const DELAY_MS = 250;

  beforeEach(async () => {
    for (const name of NAMES) {
      await world.put(name, { missed: 'all' });
      await world.ticksStoppedFor(name, 300);
    }
  });

  /** Each firing takes long; the tick is called off while some are under way. */
  async function hangUpDuringFirings(): Promise<void> {
    const slow = world.http.endpoint.faults.next(
      { kind: 'delay', ms: DELAY_MS },
      { match: /fire_schedule/, times: 1000 },
    );
    const caller = new AbortController();
    const first = tick(world.deps(), caller.signal);
    await slow.fired;
    caller.abort(new Error('the caller hung up'));
    await expect(first).rejects.toThrow('the caller hung up');
  }

  async function expectEachSlotOnce(): Promise<void> {
    for (const name of NAMES) {
      const slots = await minutes(name);
      expect(slots.length).toBeGreaterThanOrEqual(5);
      expect(slots).toEqual(unbroken(slots));
    }
    const { rows } = await world.database.pool.query<{ extra: number }>(
      `select (select count(*) from leasehold.job_state)::int
         - (select count(*) from leasehold.schedule_slots)::int as extra`,
    );
    expect(rows).toEqual([{ extra: 0 }]);
  }

  test('it stops at the edge of a transaction, and the next tick does the rest', async () => {
    await hangUpDuringFirings();
    const undecided = await world.database.pool.query(
      'select 1 from leasehold.schedules where next_slot_at <= clock_timestamp()',
    );
    expect(undecided.rows.length).toBeGreaterThan(0);
    expect(world.pokes).toEqual([]);
    expect(world.log.events).not.toContain('tick_part_failed');
    world.http.endpoint.faults.clear();
    await tick(world.deps());
    await expectEachSlotOnce();
  });

  test('a platform that lets it go on: the ticks share the work, no slot is doubled or lost', async () => {
    world.http.endpoint.faults.next(
      { kind: 'delay', ms: DELAY_MS },
      { match: /fire_schedule/, times: 1000 },
    );
    // As every minute brings a caller: the next ones come while the first is at work.
    let fresh = 0;
    const started = world.deps({ random: { next: () => (fresh++ * 0.37) % 1 } });
    await Promise.all([tick(started), tick(started), tick(started)]);
    await expectEachSlotOnce();
    const decided = world.log.lines
      .filter(({ event }) => event === 'schedules_fired')
      .map(({ fields }) => Number(fields['decided']));
    expect(decided).toHaveLength(3);
    expect(decided.every((count) => count > 0)).toBe(true);
    expect(decided.reduce((sum, count) => sum + count, 0)).toBe(NAMES.length);
  });

  test('it is called off while it pokes: no more pokes go out', async () => {
    const caller = new AbortController();
    const sent: string[] = [];
    const deps = world.deps({
      poker: {
        send: async ({ queue }) => {
          sent.push(queue);
          if (sent.length === 3) caller.abort(new Error('the caller hung up'));
          return 'taken';
        },
      },
    });
    await expect(tick(deps, caller.signal)).rejects.toThrow('the caller hung up');
    expect(sent.length).toBeLessThan(MAX_DRAIN_POKES);
    await tick(world.deps());
    expect(world.pokes).toHaveLength(MAX_DRAIN_POKES);
    await expectEachSlotOnce();
  });
});

/** Rows that were written in the tables of the product, as the server counts them. */
async function writes(): Promise<number> {
  const client = await world.database.pool.connect();
  try {
    await client.query('select pg_stat_force_next_flush(); select pg_stat_clear_snapshot()');
    const { rows } = await client.query<{ written: string }>(
      `select sum(n_tup_ins + n_tup_upd + n_tup_del) as written from pg_stat_user_tables
       where schemaname = 'leasehold'`,
    );
    return Number(rows[0]?.written ?? 0);
  } finally {
    client.release();
  }
}
