/** Events in the caller's own transaction, through every library, and in one batch over HTTP. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { getOutboxEvent } from '../../shared/outbox/get-outbox-event.ts';
import {
  appendIn,
  appendStatement,
  readAppended,
} from '../../shared/transaction/append-in-transaction.ts';
import { neonQuery } from '../../shared/transaction/neon-query.ts';
import { officialDriver, type OfficialDriver } from '../endpoint/support/official-driver.ts';
import { newEvent } from '../outbox/support/outbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { DRIVERS, type Driver } from './support/drivers.ts';
import { createNotes, notes } from './support/notes.ts';

const ACTOR = { actor: 'shop' };

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await createNotes(db.pool);
});
beforeEach(() => db.pool.query('truncate notes'));
afterAll(() => db.drop());

describe.each(Object.entries(DRIVERS))('%s', (_name, open) => {
  let driver: Driver;
  beforeAll(async () => {
    driver = await open(db.pgUrl);
  });
  afterAll(() => driver.close());

  test('S4.1 an event and a row of the caller are committed together', async () => {
    const event = newEvent({
      aggregateId: uuidv7(),
      payload: [[], '1', { 'ünï $1': [null, '{1,2}'] }],
      version: 1,
      schemaVersion: 3,
      headers: { traceparent: '00-a' },
      occurredAt: '2026-01-02T03:04:05.678Z',
    });
    const appended = await driver.transact(async ({ transaction, write }) => {
      await write('order');
      const done = await appendIn(transaction, event, ACTOR);
      expect(await getOutboxEvent(db.sql, { eventId: event.id })).toBeUndefined();
      return done;
    });
    const stored = await getOutboxEvent(db.sql, { eventId: event.id });
    expect(stored).toMatchObject({
      payload: event.payload,
      schema_version: 3,
      headers: { traceparent: '00-a' },
      occurred_at: '2026-01-02T03:04:05.678Z',
      created_by: 'shop',
    });
    expect(appended).toEqual({
      outcome: 'appended',
      eventId: event.id,
      version: 1,
      createdAt: new Date(stored?.created_at ?? ''),
    });
    expect(await notes(db.pool)).toEqual(['order']);
  });

  test('S4.1 they are rolled back together', async () => {
    const event = newEvent({ aggregateId: uuidv7() });
    const failing = driver.transact(async ({ transaction, write }) => {
      await write('order');
      await appendIn(transaction, event, ACTOR);
      throw new Error('no stock');
    });
    await expect(failing).rejects.toThrow('no stock');
    expect(await getOutboxEvent(db.sql, { eventId: event.id })).toBeUndefined();
    expect(await notes(db.pool)).toEqual([]);
  });

  test('null and no body at all are told apart', async () => {
    const { payload: _, ...bare } = newEvent({ aggregateId: uuidv7() });
    const isNull = newEvent({ aggregateId: uuidv7(), payload: null });
    await driver.transact(async ({ transaction }) => {
      await appendIn(transaction, bare, ACTOR);
      return await appendIn(transaction, isNull, ACTOR);
    });
    expect(await getOutboxEvent(db.sql, { eventId: bare.id })).toMatchObject({
      has_payload: false,
    });
    expect(await getOutboxEvent(db.sql, { eventId: isNull.id })).toMatchObject({
      has_payload: true,
      payload: null,
    });
  });
});

describe('one batch over HTTP', () => {
  let driver: OfficialDriver;
  beforeAll(async () => {
    driver = await officialDriver(db);
  });
  afterAll(() => driver.close());

  test('S4.1 commits the event with the row, or neither', async () => {
    const { sql } = driver;
    const event = newEvent({ aggregateId: uuidv7() });
    const [, rows] = await sql.transaction([
      sql`insert into notes (note) values ('order')`,
      neonQuery(sql, appendStatement(event, ACTOR)),
    ]);
    expect(readAppended(rows)).toMatchObject({ outcome: 'appended', version: 1 });
    const second = newEvent({ aggregateId: event.aggregateId });
    const failing = sql.transaction([
      neonQuery(sql, appendStatement(second, ACTOR)),
      sql`insert into notes (note) values (null)`,
    ]);
    await expect(failing).rejects.toMatchObject({ code: '23502' });
    expect(await getOutboxEvent(db.sql, { eventId: second.id })).toBeUndefined();
    const refused = sql.transaction([
      sql`insert into notes (note) values ('late')`,
      neonQuery(sql, appendStatement({ ...second, version: 7 }, ACTOR)),
    ]);
    await expect(refused).rejects.toMatchObject({ code: 'LH001' });
    expect(await notes(db.pool)).toEqual(['order']);
  });

  test('says when it is given another answer', () => {
    expect(() => readAppended([{ outcome: 'created' }])).toThrow('no outcome of the event');
    expect(() => readAppended([])).toThrow('no outcome of the event');
  });
});
