/** Floors in a real database; that they never hide a job is the property of test/simulation/floors.test.ts. */
import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claim } from '../../shared/queue/claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import { retain } from '../../shared/queue/retain.ts';
import { installVirtualClock } from '../simulation/virtual-clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { fillQueue } from './support/backlog.ts';
import { buffers, explained } from './support/explained.ts';
import { added, claimed, newJob } from './support/lease-core.ts';
import {
  ageFloors,
  holdSnapshot,
  leaveDeadEntries,
  removeDeadEntries,
  withoutAutovacuum,
} from './support/old-snapshot.ts';

const DEAD = 20_000;
const CLAIM = 'select job_id from leasehold.claim($1, $2, $3)';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await withoutAutovacuum(db.pool);
});
afterAll(() => db.drop());

async function rowsOf(queue: string): Promise<{ floors: (Date | number)[] | null }[]> {
  const { rows } = await db.pool.query<{ floors: (Date | number)[] | null }>(
    'select floors from leasehold.claim_floors where queue = $1 order by id',
    [queue],
  );
  return rows;
}

/** Pages that a claim touches. */
async function pagesOf(client: pg.PoolClient, queue: string): Promise<number> {
  const outer = (await explained(client, CLAIM, [queue, 'w', uuidv7()])).at(-1);
  if (outer === undefined) throw new Error('no statement ran');
  return buffers(outer.plan);
}

/** Entries of the claim index that a claim walks. */
async function entriesOf(client: pg.PoolClient, queue: string): Promise<number> {
  const walked = async (): Promise<number> => {
    const { rows } = await client.query<{ n: number }>(
      `select pg_stat_get_xact_tuples_returned('leasehold.job_state_claim'::regclass)::int as n`,
    );
    return rows[0]?.n ?? 0;
  };
  await client.query('begin');
  const before = await walked();
  await client.query(CLAIM, [queue, 'w', uuidv7()]);
  const after = await walked();
  await client.query('commit');
  return after - before;
}

/** Claims twice: the first writes a clock to go by, the second the first floors. */
async function writeFloors(queue: string): Promise<void> {
  for (let i = 0; i < 2; i += 1) {
    await claim(db.sql, { queue, owner: 'w', claimId: uuidv7() });
    await ageFloors(db.pool, queue);
  }
}

describe('claim floors', () => {
  // Not more: a writer in any other database of the server keeps dead entries too, and then a floor is right.
  test('a healthy database writes none over 100 claims', async () => {
    const queue = 'healthy';
    const jobs = Array.from({ length: 100 }, () => newJob({ queue }));
    await enqueueBatch(db.sql, { jobs, actor: 'test' });
    for (let i = 0; i < jobs.length; i += 1) {
      await complete(db.sql, await claimed(db.sql, queue));
      if (i % 100 === 99) await removeDeadEntries(db.pool);
    }
    expect(await claim(db.sql, { queue, owner: 'w', claimId: uuidv7() })).toEqual({
      outcome: 'empty',
    });
    expect(await rowsOf(queue)).toEqual([]);
  });

  test(`B.2 behind ${DEAD} dead entries that an old snapshot keeps, a claim costs what it costs without them; without floors twenty times that`, async () => {
    const client = await db.pool.connect();
    await fillQueue(db.pool, 'clean', 1_000);
    await pagesOf(client, 'clean'); // the first calls of a session read catalogs
    await pagesOf(client, 'clean');
    const clean = {
      pages: await pagesOf(client, 'clean'),
      entries: await entriesOf(client, 'clean'),
    };

    const old = await holdSnapshot(db.pool);
    let unfloored: number;
    try {
      await leaveDeadEntries(db.pool, 'held', DEAD, 1_000);
      expect(await entriesOf(client, 'held')).toBeGreaterThan(2 * DEAD);
      await ageFloors(db.pool, 'held');
      await pagesOf(client, 'held');
      expect(await rowsOf('held')).toHaveLength(2);
      for (let i = 0; i < 5; i += 1) {
        expect(await entriesOf(client, 'held')).toBeLessThan(clean.entries + 20);
        expect(await pagesOf(client, 'held')).toBeLessThan(2 * clean.pages);
      }

      await db.pool.query(`
        create function public.swallow() returns trigger language plpgsql as 'begin return null; end';
        create trigger no_floors before insert on leasehold.claim_floors
          for each row execute function public.swallow();
      `);
      await db.pool.query('delete from leasehold.claim_floors');
      unfloored = await pagesOf(client, 'held');
    } finally {
      await db.pool.query('drop trigger if exists no_floors on leasehold.claim_floors');
      client.release();
      await old.release();
    }
    expect(unfloored).toBeGreaterThan(20 * clean.pages);
  });

  test('end when the snapshot is gone and vacuum has run, and stay away', async () => {
    const queue = 'over';
    const old = await holdSnapshot(db.pool);
    await leaveDeadEntries(db.pool, queue, 500, 20);
    await writeFloors(queue);
    await old.release();
    expect((await rowsOf(queue)).at(-1)?.floors).toBeInstanceOf(Array);
    await removeDeadEntries(db.pool);
    await ageFloors(db.pool, queue, 11); // until the next read without floors
    await claimed(db.sql, queue);
    const rows = await rowsOf(queue);
    expect(rows.at(-1)?.floors).toBeNull();
    for (let i = 0; i < 5; i += 1) {
      await ageFloors(db.pool, queue, 11);
      await claimed(db.sql, queue);
    }
    expect(await rowsOf(queue)).toHaveLength(rows.length);
  });

  test.each(['repeatable read', 'serializable'])(
    'a caller at %s writes none: its snapshot is old',
    async (level) => {
      const queue = `at ${level}`;
      const old = await holdSnapshot(db.pool);
      await leaveDeadEntries(db.pool, queue, 300, 5);
      const client = await db.pool.connect();
      await client.query(`begin isolation level ${level}`);
      const { rows } = await client.query(CLAIM, [queue, 'w', uuidv7()]);
      await client.query('commit');
      client.release();
      await old.release();
      expect(rows).toHaveLength(1);
      expect(await rowsOf(queue)).toEqual([]);
    },
  );

  test('a caller in a long transaction writes none: its row would be old before anyone sees it', async () => {
    const virtual = await createTestDatabase();
    await installVirtualClock(virtual.pool);
    const old = await holdSnapshot(virtual.pool);
    const counts: (number | undefined)[] = [];
    // The transaction began as much later or earlier than it seems, so that a pause of this machine does not matter.
    for (const seconds of [60, -60]) {
      const queue = `began ${seconds} s from now`;
      await leaveDeadEntries(virtual.pool, queue, 300, 5);
      const client = await virtual.pool.connect();
      await client.query('begin');
      await client.query(`select set_config('virtual.offset', $1, true)`, [seconds * 1_000_000]);
      await client.query(CLAIM, [queue, 'w', uuidv7()]);
      await client.query('commit');
      client.release();
      const { rows } = await virtual.pool.query<{ n: number }>(
        'select count(*)::int as n from leasehold.claim_floors where queue = $1',
        [queue],
      );
      counts.push(rows[0]?.n);
    }
    await old.release();
    await virtual.drop();
    expect(counts).toEqual([1, 0]);
  });

  test('two refreshers at once write one row, and so does one that comes right after another', async () => {
    const queue = 'two';
    const [a, b] = [await db.pool.connect(), await db.pool.connect()];
    const refresh = 'select leasehold.refresh_claim_floors($1)';
    await a.query('begin');
    await a.query(refresh, [queue]);
    await a.query(refresh, [queue]);
    await b.query(refresh, [queue]); // does not wait, and leaves it to the other
    expect(await rowsOf(queue)).toHaveLength(0);
    await a.query('commit');
    a.release();
    b.release();
    expect(await rowsOf(queue)).toHaveLength(1);
  });

  test('leasehold.usable_floors are those of the newest row, for a minute; a row from the future has none', async () => {
    const queue = 'newest';
    const put = async (age: string, floors: string | null): Promise<unknown> => {
      await db.pool.query(
        `insert into leasehold.claim_floors (queue, at, floors, next_xid)
         values ($1, now() - $2::interval, array_fill($3::timestamptz, array[5]), '3')`,
        [queue, age, floors],
      );
      if (floors === null) {
        await db.pool.query(
          `update leasehold.claim_floors set floors = null where id = (select max(id) from leasehold.claim_floors)`,
        );
      }
      const { rows } = await db.pool.query<{ floor: string | null }>(
        `select u.floors[4]::date::text as floor from leasehold.usable_floors($1, now()) u`,
        [queue],
      );
      return rows.map((row) => row.floor);
    };
    expect(await put('59 seconds', '2001-01-01')).toEqual(['2001-01-01']);
    expect(await put('1 second', '2002-02-02')).toEqual(['2002-02-02']);
    expect(await put('-5 seconds', '2003-03-03')).toEqual([null]);
    expect(await put('61 seconds', '2004-04-04')).toEqual([]);
    expect(await put('1 second', null)).toEqual([]);
  });

  test('has_due looks from the floors on, and complete hints rightly behind dead entries', async () => {
    const queue = 'hints';
    const old = await holdSnapshot(db.pool);
    await leaveDeadEntries(db.pool, queue, 500, 5);
    await writeFloors(queue);
    const hints: boolean[] = [];
    for (let i = 0; i < 3; i += 1) {
      const end = await complete(db.sql, await claimed(db.sql, queue));
      hints.push(end.outcome !== 'lease_lost' && end.moreDue);
    }
    expect(hints).toEqual([true, true, false]);
    await old.release();

    const hasDue = async (): Promise<unknown> => {
      const { rows } = await db.pool.query(
        'select leasehold.has_due($1, clock_timestamp()) as due',
        [queue],
      );
      return rows;
    };
    await added(db.sql, { queue });
    expect(await hasDue()).toEqual([{ due: true }]);
    await db.pool.query(
      `update leasehold.claim_floors set floors = array_fill(clock_timestamp(), array[5]) where queue = $1`,
      [queue],
    );
    expect(await hasDue()).toEqual([{ due: false }]);
  });

  test('retain forgets them after ten minutes', async () => {
    const queue = 'kept';
    await db.pool.query(
      `insert into leasehold.claim_floors (queue, at, floors, next_xid)
       select $1, now() - age, null, '3' from unnest('{11 minutes, 9 minutes}'::interval[]) age`,
      [queue],
    );
    await retain(db.sql, { limit: 1_000, keyHours: 24 });
    const { rows } = await db.pool.query(
      `select at < now() - interval '10 minutes' as old from leasehold.claim_floors where queue = $1`,
      [queue],
    );
    expect(rows).toEqual([{ old: false }]);
  });
});
