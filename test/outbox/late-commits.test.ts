/** Case I1: numbers are given in one order and committed in another. */
import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { eventsSince } from '../../shared/outbox/events-since.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { append, appendMany, clearOutbox, pendingCount, relay } from './support/outbox.ts';
import { scriptedPublisher } from './support/scripted-publisher.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(() => clearOutbox(db.pool));
afterAll(() => db.drop());

/** A producer with an event that it has appended and not committed. */
async function openProducer(aggregateId: string): Promise<{
  readonly id: string;
  readonly client: pg.PoolClient;
  end(how: 'commit' | 'rollback'): Promise<void>;
}> {
  const client = await db.pool.connect();
  const id = uuidv7();
  await client.query('begin');
  await client.query(`select leasehold.append_event($1, 'order', $2, 'order.placed', '1')`, [
    id,
    aggregateId,
  ]);
  return {
    id,
    client,
    end: async (how) => {
      await client.query(how);
      client.release();
    },
  };
}

/**
 * Everything that a reader with a cursor gets until there is nothing new.
 *
 * @param atLeast reads on until so many came: an open transaction of any database of the server holds the feed up
 */
async function readOn(
  cursor: string | undefined,
  atLeast = 0,
): Promise<{ ids: string[]; cursor?: string }> {
  const ids: string[] = [];
  let at = cursor;
  for (const until = Date.now() + 60_000; Date.now() < until;) {
    const events = await eventsSince(db.sql, {
      limit: 500,
      ...(at === undefined ? {} : { cursor: at }),
    });
    ids.push(...events.map(({ id }) => id));
    at = events.at(-1)?.cursor ?? at;
    if (events.length > 0 || ids.length < atLeast) continue;
    return at === undefined ? { ids } : { ids, cursor: at };
  }
  throw new Error(`${ids.length} events came, not ${atLeast}`);
}

describe('a transaction that stays open while 10,000 later events commit', () => {
  test.each(['commit', 'rollback'] as const)(
    'I1 is neither skipped nor in the way of the relay; it ends by %s',
    async (how) => {
      const publisher = scriptedPublisher();
      const late = await openProducer('late');
      for (let round = 0; round < 10; round += 1) {
        await appendMany(db.pool, `later ${round}`, 1000);
        while ((await relay(db.sql, publisher)).batches > 0);
      }
      expect(publisher.published).toHaveLength(10_000);
      expect(publisher.sent('late')).toEqual([]);
      // Its position lies far below the floor by now.
      const { rows } = await db.pool.query<{ floor: string }>(
        `select max(floor)::text as floor from leasehold.outbox_shards`,
      );
      expect(Number(rows[0]?.floor)).toBeGreaterThan(5000);

      await late.end(how);
      await relay(db.sql, publisher);
      expect(publisher.sent('late')).toEqual(how === 'commit' ? [late.id] : []);
      expect(await pendingCount(db.pool)).toBe(0);
      const after = await append(db.sql, { aggregateId: 'late' });
      expect(after.version).toBe(how === 'commit' ? 2 : 1);
      await relay(db.sql, publisher);
      expect(publisher.sent('late').at(-1)).toBe(after.eventId);
    },
    120_000,
  );

  test('I1 is not skipped by a reader that keeps a cursor: it waits, and loses nothing', async () => {
    const before = await append(db.sql, { aggregateId: 'before' });
    const first = await readOn(undefined, 1);
    expect(first.ids).toEqual([before.eventId]);
    const late = await openProducer('late');
    await appendMany(db.pool, 'later', 1000);
    const meanwhile = await readOn(first.cursor);
    expect(meanwhile.ids).toEqual([]);
    await late.end('commit');
    const { ids } = await readOn(meanwhile.cursor, 1001);
    expect(ids).toHaveLength(1001);
    expect(ids).toContain(late.id);
    expect(new Set(ids).size).toBe(1001);
  }, 120_000);

  test('I1 leaves no gap for the reader when it is rolled back', async () => {
    const late = await openProducer('late');
    await appendMany(db.pool, 'later', 10);
    expect((await readOn(undefined)).ids).toEqual([]);
    await late.end('rollback');
    expect((await readOn(undefined, 10)).ids).toHaveLength(10);
  }, 120_000);
});

describe('leasehold.raise_outbox_floor', () => {
  test('follows the events while an old snapshot is open, and finds every late commit below it', async () => {
    const publisher = scriptedPublisher();
    const old = await db.pool.connect();
    await old.query('begin isolation level repeatable read');
    await old.query('select 1 from leasehold.outbox_events');
    const late: string[] = [];
    let open = await openProducer('late');
    for (let round = 0; round < 30; round += 1) {
      await appendMany(db.pool, `a ${round % 5}`, 20);
      if (round % 3 === 2) {
        // Committed below floors that have gone on, and another one is open meanwhile.
        const next = await openProducer(`late ${round}`);
        await open.end('commit');
        late.push(open.id);
        open = next;
      }
      while ((await relay(db.sql, publisher)).batches > 0);
    }
    await open.end('commit');
    late.push(open.id);
    while ((await relay(db.sql, publisher)).batches > 0);
    const ids = publisher.published.map(({ id }) => id);
    expect(new Set(ids).size).toBe(600 + late.length);
    expect(ids).toHaveLength(600 + late.length);
    expect(ids).toEqual(expect.arrayContaining(late));
    await old.query('commit');
    old.release();
  });

  test('stays exact under producers that commit in any order while four relays publish', async () => {
    const publisher = scriptedPublisher();
    let producing = true;
    const produced: string[] = [];
    const producers = Array.from({ length: 6 }, async (_, producer) => {
      for (let i = 0; i < 40; i += 1) {
        const open = await openProducer(`p${producer} ${i % 3}`);
        const commits = (producer + i) % 4 !== 0;
        await open.client.query('select pg_sleep($1)', [((producer * 7 + i * 3) % 5) / 200]);
        await open.end(commits ? 'commit' : 'rollback');
        if (commits) produced.push(open.id);
      }
    });
    const relays = Array.from({ length: 4 }, async () => {
      while (producing || (await pendingCount(db.pool)) > 0) await relay(db.sql, publisher);
    });
    await Promise.all(producers);
    producing = false;
    await Promise.all(relays);
    const ids = publisher.published.map(({ id }) => id);
    expect(ids.toSorted()).toEqual(produced.toSorted());
    for (const aggregateId of new Set(publisher.published.map((event) => event.aggregateId))) {
      const versions = publisher.published
        .filter((event) => event.aggregateId === aggregateId)
        .map(({ version }) => version);
      expect(versions).toEqual(versions.map((_, at) => at + 1));
    }
  }, 60_000);
});
