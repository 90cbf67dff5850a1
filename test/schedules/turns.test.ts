import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { lastTurn } from '../../shared/queue/last-turn.ts';
import { takeTurn } from '../../shared/queue/take-turn.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query('delete from leasehold.turns'));

const turn = { name: 'retention', everySeconds: 3600 } as const;

async function age(seconds: number): Promise<void> {
  await database.pool.query(
    'update leasehold.turns set taken_at = taken_at - make_interval(secs => $1)',
    [seconds],
  );
}

test('one of all that ask gets the turn, and the next one after the interval', async () => {
  const { sql } = database;
  expect(await takeTurn(sql, turn)).toEqual({ taken: true });
  expect(await takeTurn(sql, turn)).toEqual({ taken: false });
  expect(await takeTurn(sql, { ...turn, name: 'tick' })).toEqual({ taken: true });
  await age(3590);
  expect(await takeTurn(sql, turn)).toEqual({ taken: false });
  await age(11);
  expect(await takeTurn(sql, turn)).toEqual({ taken: true });
});

test.each([
  ['the first turn', 0],
  ['a later one', 4000],
])('two ask at once for %s: one gets it', async (_, aged) => {
  const { pool, sql } = database;
  if (aged > 0) {
    await takeTurn(sql, turn);
    await age(aged);
  }
  const [first, second] = [await pool.connect(), await pool.connect()];
  try {
    await first.query('begin');
    const asked = "select leasehold.take_turn('retention', 3600) as taken";
    expect((await first.query(asked)).rows).toEqual([{ taken: true }]);
    // It saw no turn taken, and now waits for the row of the first.
    const late = second.query(asked);
    let waiting = 0;
    while (waiting === 0) {
      const { rows } = await pool.query<{ waiting: number }>(
        `select count(*)::int as waiting from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query = $1`,
        [asked],
      );
      waiting = rows[0]?.waiting ?? 0;
    }
    await first.query('commit');
    expect((await late).rows).toEqual([{ taken: false }]);
  } finally {
    first.release();
    second.release();
  }
});

test('when a turn was last taken can be asked without taking it', async () => {
  const { sql } = database;
  expect(await lastTurn(sql, { name: 'tick' })).toEqual({ at: null });
  await takeTurn(sql, { name: 'tick', everySeconds: 300 });
  const { at } = await lastTurn(sql, { name: 'tick' });
  const { rows } = await database.pool.query('select clock_timestamp() - $1 < $2 as recent', [
    at,
    '10 seconds',
  ]);
  expect(rows).toEqual([{ recent: true }]);
});

test.each([
  [null, 60],
  ['', 60],
  ['x'.repeat(129), 60],
  ['tick', 0],
  ['tick', 86_401],
  ['tick', null],
])('refuses %j every %j seconds', async (name, seconds) => {
  await expect(
    database.pool.query('select leasehold.take_turn($1, $2)', [name, seconds]),
  ).rejects.toMatchObject({ code: 'LH001' });
});
