/** Relays in processes of their own, over the production driver, against a receiver in another; some are killed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { RELAY_BATCH_EVENTS } from '../../shared/limits.ts';
import { startReceiver, type Receiver } from '../push/support/receiver.ts';
import { PUSH_KEY } from '../push/support/scripted-push.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createHttpSql, type HttpSql } from '../support/http-sql.ts';
import { clearOutbox, publishedIds } from './support/outbox.ts';
import { relayRace } from './support/relay-race.ts';

let db: TestDatabase;
let http: HttpSql;
let receiver: Receiver;
beforeAll(async () => {
  db = await createTestDatabase();
  http = await createHttpSql(db);
  receiver = await startReceiver([PUSH_KEY]);
});
beforeEach(async () => {
  await clearOutbox(db.pool);
  receiver.received.length = 0;
});
afterAll(async () => {
  await receiver.close();
  await http.close();
  await db.drop();
});

describe('relays that race', () => {
  test('R16 a slow receiver, two relays, one killed after it sent: duplicates are bounded and carry one id', async () => {
    await receiver.answer({ status: 200, delayMs: 10 });
    const report = await relayRace({
      pool: db.pool,
      connectionString: http.connectionString,
      receiver,
      key: PUSH_KEY,
      relays: 2,
      aggregates: 20,
      eventsPerAggregate: 30,
      killEvery: 150,
      kills: 1,
      invocationMs: 5000,
    });
    expect(report).toMatchObject({ events: 600, kills: 1, disordered: [], unsigned: 0 });
    expect(report.duplicates).toBeLessThanOrEqual(RELAY_BATCH_EVENTS);
    expect(await publishedIds(db.pool)).toHaveLength(600);
  }, 60_000);

  test('S4.4 four relays, killed again and again: every event, in the order of its aggregate', async () => {
    await receiver.answer({ status: 200 });
    const report = await relayRace({
      pool: db.pool,
      connectionString: http.connectionString,
      receiver,
      key: PUSH_KEY,
      relays: 4,
      aggregates: 60,
      eventsPerAggregate: 25,
      killEvery: 300,
      kills: 4,
      invocationMs: 4000,
    });
    expect(report).toMatchObject({ events: 1500, kills: 4, disordered: [], unsigned: 0 });
    expect(report.duplicates).toBeLessThanOrEqual(4 * RELAY_BATCH_EVENTS);
  }, 60_000);
});
