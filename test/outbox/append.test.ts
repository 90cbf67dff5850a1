import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { appendEvent } from '../../shared/outbox/append-event.ts';
import { appendIn } from '../../shared/transaction/append-in-transaction.ts';
import { pgTransaction } from '../../shared/transaction/pg-transaction.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createHttpSql } from '../support/http-sql.ts';
import { append, newEvent } from './support/outbox.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await db.pool.query('create table orders (id text primary key)');
});
afterAll(() => db.drop());

async function versionsOf(aggregateId: string): Promise<number[]> {
  const { rows } = await db.pool.query<{ version: string }>(
    'select version from leasehold.outbox_events where aggregate_id = $1 order by position',
    [aggregateId],
  );
  return rows.map(({ version }) => Number(version));
}

async function inTransaction(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    await work(client);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

describe('an event and the rows it tells about', () => {
  test('S4.1 are committed together, by the SQL function and by the helper', async () => {
    await inTransaction(async (client) => {
      await client.query(`insert into orders values ('sql')`);
      await client.query(
        `select * from leasehold.append_event($1, 'order', 'sql', 'order.placed', '{"total": 1}')`,
        [uuidv7()],
      );
      await client.query(`insert into orders values ('helper')`);
      const event = newEvent({ aggregateId: 'helper' });
      expect(await appendIn(pgTransaction(client), event, { actor: 'shop' })).toMatchObject({
        outcome: 'appended',
        eventId: event.id,
        version: 1,
      });
    });
    expect(await versionsOf('sql')).toEqual([1]);
    expect(await versionsOf('helper')).toEqual([1]);
  });

  test('S4.1 are rolled back together: no event, no pending row, and the version is free again', async () => {
    const before = await append(db.sql, { aggregateId: 'undone' });
    const failing = inTransaction(async (client) => {
      await client.query(`insert into orders values ('undone')`);
      const event = newEvent({ aggregateId: 'undone' });
      const { version } = await appendIn(pgTransaction(client), event, { actor: 'shop' });
      expect(version).toBe(2);
      throw new Error('the card was refused');
    });
    await expect(failing).rejects.toThrow('the card was refused');
    expect(before.version).toBe(1);
    expect(await versionsOf('undone')).toEqual([1]);
    const { rows } = await db.pool.query(
      `select event_id from leasehold.outbox_pending where aggregate_id = 'undone'`,
    );
    expect(rows).toEqual([{ event_id: before.eventId }]);
    expect((await append(db.sql, { aggregateId: 'undone' })).version).toBe(2);
  });

  test('keep their order through a savepoint that is rolled back', async () => {
    await inTransaction(async (client) => {
      const transaction = pgTransaction(client);
      const event = (): Parameters<typeof appendIn>[1] => newEvent({ aggregateId: 'savepoint' });
      await appendIn(transaction, event(), { actor: 'shop' });
      await client.query('savepoint s');
      await appendIn(transaction, event(), { actor: 'shop' });
      await client.query('rollback to savepoint s');
      await appendIn(transaction, event(), { actor: 'shop' });
    });
    expect(await versionsOf('savepoint')).toEqual([1, 2]);
  });
});

describe('versions of an aggregate', () => {
  test('S4.4 are taken one after another, or given and checked: a gap and a repeat are refused', async () => {
    expect((await append(db.sql, { aggregateId: 'given', version: 1 })).version).toBe(1);
    expect((await append(db.sql, { aggregateId: 'given' })).version).toBe(2);
    expect((await append(db.sql, { aggregateId: 'given', version: 3 })).version).toBe(3);
    await expect(append(db.sql, { aggregateId: 'given', version: 5 })).rejects.toMatchObject({
      code: 'version_conflict',
      message: 'version: the next version of order given is 4, not 5',
      facts: { expected_version: 4 },
    });
    await expect(append(db.sql, { aggregateId: 'given', version: 3 })).rejects.toMatchObject({
      code: 'version_conflict',
      facts: { expected_version: 4 },
    });
    await expect(append(db.sql, { aggregateId: 'new', version: 2 })).rejects.toMatchObject({
      code: 'version_conflict',
      facts: { expected_version: 1 },
    });
    expect(await versionsOf('given')).toEqual([1, 2, 3]);
    expect((await append(db.sql, { aggregateId: 'new' })).version).toBe(1);
  });

  test('stay without gap and repeat under concurrent producers', async () => {
    const producers = Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 25; i += 1) await append(db.sql, { aggregateId: 'busy' });
    });
    await Promise.all(producers);
    expect(await versionsOf('busy')).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
  });

  test('of two that want the same one, the second is refused', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 4 }, () => append(db.sql, { aggregateId: 'raced', version: 1 })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await versionsOf('raced')).toEqual([1]);
  });

  test('an open producer holds up its own aggregate alone', async () => {
    const client = await db.pool.connect();
    await client.query('begin');
    await appendIn(pgTransaction(client), newEvent({ aggregateId: 'slow' }), { actor: 'shop' });
    await append(db.sql, { aggregateId: 'other' });
    let isThrough = false;
    const waiting = append(db.sql, { aggregateId: 'slow' }).then((event) => {
      isThrough = true;
      return event;
    });
    await untilBlocked();
    expect(isThrough).toBe(false);
    await client.query('commit');
    client.release();
    expect((await waiting).version).toBe(2);
    expect(await versionsOf('slow')).toEqual([1, 2]);
  });

  async function untilBlocked(): Promise<void> {
    for (;;) {
      const { rows } = await db.pool.query(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%append_event%'
           and datname = current_database()`,
      );
      if (rows.length > 0) return;
    }
  }
});

describe('an event that is appended again', () => {
  test('B.3 is the same event, and takes no version', async () => {
    const event = newEvent({ aggregateId: 'again', payload: { b: 1, a: [null, 'x'] } });
    const first = await appendEvent(db.sql, { event, actor: 'shop' });
    const second = await appendEvent(db.sql, { event, actor: 'shop' });
    expect(second).toEqual({ ...first, outcome: 'exists' });
    const withVersion = { ...event, version: 1 };
    expect(await appendEvent(db.sql, { event: withVersion, actor: 'shop' })).toMatchObject({
      outcome: 'exists',
    });
    expect((await append(db.sql, { aggregateId: 'again' })).version).toBe(2);
  });

  test.each([
    ['payload', { payload: { total: 11 } }],
    ['null payload', { payload: null }],
    ['type', { type: 'order.cancelled' }],
    ['schema version', { schemaVersion: 2 }],
    ['version', { version: 9 }],
    ['aggregate', { aggregateId: 'somebody else' }],
    ['aggregate type', { aggregateType: 'invoice' }],
  ])('with another %s is refused, and changes nothing', async (_, change) => {
    const event = newEvent({ aggregateId: `conflict ${_}` });
    await appendEvent(db.sql, { event, actor: 'shop' });
    const other = { ...event, ...change };
    await expect(appendEvent(db.sql, { event: other, actor: 'shop' })).rejects.toMatchObject({
      code: 'event_id_conflict',
      problems: [{ path: 'id' }],
    });
    expect(await versionsOf(event.aggregateId)).toEqual([1]);
    expect((await append(db.sql, { aggregateId: event.aggregateId })).version).toBe(2);
  });

  test('at the same moment for another aggregate: one of the two is refused', async () => {
    const event = newEvent({ aggregateId: 'left' });
    const client = await db.pool.connect();
    await client.query('begin');
    await appendIn(pgTransaction(client), event, { actor: 'shop' });
    const other = appendEvent(db.sql, { event: { ...event, aggregateId: 'right' }, actor: 'shop' });
    const [refused] = await Promise.allSettled([other, client.query('commit')]);
    client.release();
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'event_id_conflict' } });
    expect(await versionsOf('right')).toEqual([]);
  });

  test('B.3 after a lost answer is one event', async () => {
    const http = await createHttpSql(db);
    try {
      http.endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /append_event/ });
      const event = newEvent({ aggregateId: 'lost answer' });
      expect(await appendEvent(http.sql, { event, actor: 'shop' })).toMatchObject({
        outcome: 'exists',
        version: 1,
      });
      expect(await versionsOf('lost answer')).toEqual([1]);
    } finally {
      await http.close();
    }
  });
});

describe('leasehold.new_event_problem', () => {
  test.each([
    ['id', { id: 'b0000000-0000-4000-8000-000000000000' }],
    ['id', { id: '00000000-0000-7000-8000-000000000000' }],
    ['aggregate_type', { aggregateType: '' }],
    ['aggregate_type', { aggregateType: 'x'.repeat(129) }],
    ['aggregate_id', { aggregateId: '' }],
    ['aggregate_id', { aggregateId: 'x'.repeat(201) }],
    ['aggregate_id', { aggregateId: 'a\nb' }],
    ['type', { type: 'a\tb' }],
    ['version', { version: 0 }],
    ['schema_version', { schemaVersion: 0 }],
    ['headers', { headers: { big: 'x'.repeat(9000) } }],
    ['payload', { payload: Array.from({ length: 400_000 }, (_, i) => i) }],
  ])('names the field: %s %#', async (path, change) => {
    await expect(append(db.sql, change)).rejects.toMatchObject({
      code: 'invalid_request',
      problems: [{ path }],
    });
  });

  test('takes what lies at the edges', async () => {
    const edges = {
      aggregateType: 'x'.repeat(128),
      aggregateId: '🙂'.repeat(200),
      type: 't'.repeat(128),
      schemaVersion: 1_000_000,
    };
    expect(await append(db.sql, edges)).toMatchObject({ outcome: 'appended', version: 1 });
  });
});

describe('leasehold.outbox_shard', () => {
  test('is one of sixteen, the same for ever, and tells types and ids apart', async () => {
    const { rows } = await db.pool.query<{ shards: string; one: number; same: boolean }>(
      `select count(distinct leasehold.outbox_shard('order', i::text))::text as shards,
         leasehold.outbox_shard('order', '42') as one,
         leasehold.outbox_shard('a', 'bc') = leasehold.outbox_shard('ab', 'c')
           and leasehold.outbox_shard('x', 'yz') = leasehold.outbox_shard('xy', 'z')
           and leasehold.outbox_shard('k', 'lm') = leasehold.outbox_shard('kl', 'm') as same
       from generate_series(1, 1000) i`,
    );
    // Events that wait were placed by this number: if it ever changes, they are stuck.
    expect(rows).toEqual([{ shards: '16', one: 8, same: false }]);
  });
});
