import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { retainHourly } from '../../functions/scheduled/retain.ts';
import { MAX_RETENTION_CALLS, MAX_RETENTION_ROWS } from '../../shared/limits.ts';
import { retain } from '../../shared/queue/retain.ts';
import { createTickWorld } from './support/tick-world.ts';
import type { TickWorld } from './support/tick-world.ts';

let world: TickWorld;
beforeAll(async () => {
  world = await createTickWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.reset();
  await world.database.pool.query(
    `delete from leasehold.dead_letters; delete from leasehold.finished_jobs; delete from leasehold.attempts;
     delete from leasehold.idempotency_keys; delete from leasehold.queues`,
  );
});

const WEEK_DAYS = 7;

/** Rows as they were left `days` ago; ids are times, so an old job needs an old id. */
async function oldJob(
  state: 'live' | 'dead' | 'finished',
  days: number,
  options: { readonly queue?: string; readonly finishedDaysAgo?: number } = {},
): Promise<string> {
  const { queue = 'old', finishedDaysAgo = days } = options;
  const { rows } = await world.database.pool.query<{ id: string }>(
    `insert into leasehold.jobs (id, queue, type, payload, home_lane, max_attempts, due_at, created_at, created_by, tags)
     select overlay(gen_random_uuid()::text placing
         left(leasehold.job_id_floor(clock_timestamp() - make_interval(days => $1))::text, 15) from 1 for 15)::uuid,
       $2, 't', '{"big": "payload"}', 3, 5, t.at, t.at, 'test', '{old}'
     from (values (clock_timestamp() - make_interval(days => $1))) t (at)
     returning id`,
    [days, queue],
  );
  const id = rows[0]?.id ?? '';
  const { pool } = world.database;
  await pool.query('insert into leasehold.queues (name) values ($1) on conflict do nothing', [
    queue,
  ]);
  await pool.query("insert into leasehold.job_tags (tag, job_id) values ('old', $1)", [id]);
  await pool.query(
    "insert into leasehold.job_events (job_id, type, actor) values ($1, 'created', 'test')",
    [id],
  );
  if (state === 'live') {
    await pool.query(
      `insert into leasehold.job_state (job_id, due_at, max_attempts, lane, home_lane, queue)
       values ($1, clock_timestamp() + interval '300 days', 5, 3, 3, $2)`,
      [id, queue],
    );
  } else if (state === 'dead') {
    await pool.query(
      `insert into leasehold.dead_letters (job_id, queue, reason, attempt, fencing_token, dead_at)
       values ($1, $2, 'attempts_exhausted', 5, 5, clock_timestamp())`,
      [id, queue],
    );
  } else {
    await pool.query(
      `insert into leasehold.finished_jobs (job_id, state, attempt, fencing_token, finished_at, finished_by)
       values ($1, 'succeeded', 1, 1, clock_timestamp() - make_interval(days => $2), 'test')`,
      [id, finishedDaysAgo],
    );
  }
  return id;
}

/** The weekly partitions of the past, as `ensure_partitions` had made them then. */
async function partitionOf(days: number): Promise<string[]> {
  const { rows } = await world.database.pool.query<{ week: string }>(
    `select to_char(date_trunc('week', now() - make_interval(days => $1), 'UTC') at time zone 'UTC', 'YYYYMMDD') as week`,
    [days],
  );
  const names = ['attempts', 'finished_jobs', 'job_events'].map(
    (table) => `${table}_${rows[0]?.week}`,
  );
  for (const name of names) {
    await world.database.pool.query(
      `create table if not exists leasehold.${name} partition of leasehold.${name.replace(/_\d+$/, '')}
       for values from (${floorOf(name, 0)}) to (${floorOf(name, WEEK_DAYS)})`.replaceAll(
        '\n',
        ' ',
      ),
    );
  }
  return names;

  function floorOf(name: string, plusDays: number): string {
    const week = name.slice(-8);
    const at = Date.UTC(
      Number(week.slice(0, 4)),
      Number(week.slice(4, 6)) - 1,
      Number(week.slice(6)) + plusDays,
    );
    const hex = at.toString(16).padStart(12, '0');
    return `'${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000'`;
  }
}

async function left(ids: readonly string[]): Promise<boolean[]> {
  const { rows } = await world.database.pool.query<{ id: string }>(
    'select id from leasehold.jobs where id = any ($1)',
    [ids],
  );
  return ids.map((id) => rows.some((row) => row.id === id));
}

async function tables(names: readonly string[]): Promise<boolean[]> {
  const { rows } = await world.database.pool.query<{ there: boolean }>(
    "select to_regclass('leasehold.' || n) is not null as there from unnest($1::text[]) n",
    [names],
  );
  return rows.map(({ there }) => there);
}

describe('retention never touches a live or a dead job', () => {
  test('of a year ago, while the finished ones beside them go', async () => {
    const live = await oldJob('live', 365);
    const dead = await oldJob('dead', 365);
    const finished = await oldJob('finished', 365);
    const lately = await oldJob('finished', 365, { finishedDaysAgo: 1 });
    const young = await oldJob('finished', 20);
    expect(await retainHourly(world.deps())).toMatchObject({ ran: true, finished: true });
    expect(await left([live, dead, finished, lately, young])).toEqual([
      true,
      true,
      false,
      true,
      true,
    ]);
    const { rows } = await world.database.pool.query(
      "select job_id from leasehold.job_tags where tag = 'old' and job_id = $1",
      [finished],
    );
    expect(rows).toEqual([]);
  });

  test('each queue by its own retention', async () => {
    const kept = await oldJob('finished', 20, { queue: 'long' });
    const gone = await oldJob('finished', 20, { queue: 'short' });
    await world.database.pool.query(
      "update leasehold.queues set retention_days = 10 where name = 'short'",
    );
    await retainHourly(world.deps());
    expect(await left([kept, gone])).toEqual([true, false]);
  });

  test.each(['live', 'dead'] as const)(
    'a week with a %s job keeps its history, a week without one is dropped whole',
    async (state) => {
      const keptWeek = await partitionOf(200);
      const goneWeek = await partitionOf(300);
      const kept = await oldJob(state, 200);
      await oldJob('finished', 200);
      await oldJob('finished', 300);
      await retainHourly(world.deps());
      expect(await tables(keptWeek)).toEqual([true, true, true]);
      expect(await tables(goneWeek)).toEqual([false, false, false]);
      const { rows } = await world.database.pool.query(
        'select type from leasehold.job_events where job_id = $1',
        [kept],
      );
      expect(rows).toEqual([{ type: 'created' }]);
    },
  );

  test('the weeks to come are made while at it', async () => {
    const { rows } = await world.database.pool.query<{ week: string }>(
      `select to_char(date_trunc('week', now() + interval '56 days', 'UTC') at time zone 'UTC', 'YYYYMMDD') as week`,
    );
    const name = `job_events_${rows[0]?.week}`;
    await world.database.pool.query(`drop table if exists leasehold.${name}`);
    await retainHourly(world.deps());
    expect(await tables([name])).toEqual([true]);
  });
});

describe('a pass of retention is bounded', () => {
  test('it calls until nothing is left', async () => {
    for (let at = 0; at < 3; at += 1) await oldJob('finished', 100);
    const before = world.http.endpoint.requests;
    await retainHourly(world.deps());
    // The turn, the call that removes, the one that finds nothing, and one for outbox and inbox.
    expect(world.http.endpoint.requests - before).toBe(4);
  });

  test('or until its bound, and the next turn goes on', async () => {
    let calls = 0;
    const { sql } = world.deps();
    const endless = world.deps({
      sql: {
        query: async (text, values, options) => {
          const rows = await sql.query(text, values, options);
          if (!text.includes('leasehold.retain')) return rows as never;
          calls += 1;
          return [{ removed: MAX_RETENTION_ROWS }] as never;
        },
      },
    });
    expect(await retainHourly(endless)).toEqual({
      ran: true,
      removed: 2 * MAX_RETENTION_CALLS * MAX_RETENTION_ROWS,
      finished: false,
    });
    // Once for jobs, once for outbox and inbox.
    expect(calls).toBe(2 * MAX_RETENTION_CALLS);
  });

  test('one call deletes no more than it was told', async () => {
    const ids = [await oldJob('finished', 100), await oldJob('finished', 101)];
    await retain(world.http.sql, { limit: 1, keyHours: 24 });
    expect((await left(ids)).filter(Boolean)).toHaveLength(1);
  });

  test('called off, it stops between two calls', async () => {
    const caller = new AbortController();
    caller.abort(new Error('called off'));
    await oldJob('finished', 100);
    await expect(retainHourly(world.deps(), caller.signal)).rejects.toThrow('called off');
  });

  test('it holds up nobody: partitions that are read stay until the next pass', async () => {
    const week = await partitionOf(300);
    await partitionOf(310);
    await partitionOf(320);
    await oldJob('finished', 300);
    const reader = await world.database.pool.connect();
    try {
      await reader.query('begin');
      await reader.query('select count(*) from leasehold.job_events');
      const started = performance.now();
      await retain(world.http.sql, { limit: 100, keyHours: 24 });
      expect(performance.now() - started).toBeLessThan(1900);
      expect((await tables(week)).at(-1)).toBe(true);
    } finally {
      await reader.query('rollback');
      reader.release();
    }
    await retain(world.http.sql, { limit: 100, keyHours: 24 });
    expect(await tables(week)).toEqual([false, false, false]);
  });
});

test('a claim goes on while retention runs', async () => {
  const id = uuidv7();
  await world.database.pool.query("select leasehold.enqueue($1, 'q', 't', '1')", [id]);
  const cleaner = await world.database.pool.connect();
  try {
    await cleaner.query('begin');
    await oldJob('finished', 100);
    await cleaner.query('select leasehold.retain(100, 24)');
    const { rows } = await world.database.pool.query(
      "select job_id from leasehold.claim('q', 'worker', gen_random_uuid())",
    );
    expect(rows).toEqual([{ job_id: id }]);
  } finally {
    await cleaner.query('rollback');
    cleaner.release();
  }
});
