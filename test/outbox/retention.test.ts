import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { appendEvent } from '../../shared/outbox/append-event.ts';
import { getOutboxEvent } from '../../shared/outbox/get-outbox-event.ts';
import { outboxMetrics } from '../../shared/outbox/outbox-metrics.ts';
import { replayEvents } from '../../shared/outbox/replay-events.ts';
import { retainOutbox } from '../../shared/outbox/retain-outbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  append,
  appendRounds,
  clearOutbox,
  makeHoldsDue,
  newEvent,
  relay,
} from './support/outbox.ts';
import { scriptedPublisher } from './support/scripted-publisher.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(async () => {
  await clearOutbox(db.pool);
  await db.pool.query(`truncate leasehold.inbox_events, leasehold.outbox_retention`);
  await db.pool.query('insert into leasehold.outbox_retention default values');
});
afterAll(() => db.drop());

const publisher = scriptedPublisher();
const DAYS = { payloadDays: 30, eventDays: 90, inboxDays: 60 };

async function retained(limit = 1000): Promise<number> {
  let removed = 0;
  for (;;) {
    const call = await retainOutbox(db.sql, { limit, ...DAYS });
    if (call.removed === 0) return removed;
    removed += call.removed;
  }
}

/** As if everything that is done had been done so many days ago. */
async function ages(days: number): Promise<void> {
  await db.pool.query(`update leasehold.outbox_published set at = at - make_interval(days => $1)`, [
    days,
  ]);
}

describe('leasehold.retain_outbox', () => {
  test('S4.9 drops the payload before the envelope, and then the event with its log', async () => {
    const script = scriptedPublisher();
    script.script = (event) =>
      event.attempt === 1 ? { outcome: 'failed', error: { code: 'x', message: 'X.' } } : undefined;
    const { eventId } = await append(db.sql, { headers: { tenant: 'acme' } });
    await relay(db.sql, script);
    await makeHoldsDue(db.pool);
    await relay(db.sql, script);
    await ages(31);
    await retained();
    expect(await getOutboxEvent(db.sql, { eventId })).toMatchObject({
      state: 'published',
      has_payload: false,
      payload: null,
      payload_dropped_at: expect.stringMatching(/Z$/) as unknown,
      headers: { tenant: 'acme' },
      attempts: 2,
      log: [{ type: 'failed' }],
    });
    expect((await outboxMetrics(db.sql)).retention.payloads_dropped_until).toMatch(/Z$/);
    await ages(60);
    await expect(retained()).rejects.toMatchObject({ sqlState: 'LH003' }); // the log keeps a day
    await db.pool.query('alter table leasehold.outbox_log disable trigger all');
    await db.pool.query(`update leasehold.outbox_log set at = at - interval '91 days'`);
    await db.pool.query('alter table leasehold.outbox_log enable trigger all');
    await retained();
    expect(await getOutboxEvent(db.sql, { eventId })).toBeUndefined();
    const { rows } = await db.pool.query(
      `select (select count(*)::int from leasehold.outbox_log where event_id = $1) as log,
         (select count(*)::int from leasehold.outbox_published where event_id = $1) as published`,
      [eventId],
    );
    expect(rows).toEqual([{ log: 0, published: 0 }]);
    // The aggregate goes on where it was.
    expect((await append(db.sql)).version).toBe(2);
  });

  test('never touches what is not done: pending, held, quarantined', async () => {
    const script = scriptedPublisher();
    script.script = (event) => {
      if (event.aggregateId === 'poison') {
        return { outcome: 'rejected', error: { code: 'x', message: 'X.' } };
      }
      return event.aggregateId === 'failing'
        ? { outcome: 'failed', error: { code: 'x', message: 'X.' } }
        : undefined;
    };
    const ids = await appendRounds(db.sql, ['poison', 'failing', 'out'], 2);
    await relay(db.sql, script);
    const { eventId } = await append(db.sql, { aggregateId: 'pending' });
    await db.pool.query(
      `update leasehold.outbox_events set created_at = created_at - interval '1 year', occurred_at = occurred_at - interval '1 year'`,
    );
    await ages(365);
    expect(await retained()).toBeGreaterThan(0);
    for (const id of [eventId, ...(ids.get('poison') ?? []), ...(ids.get('failing') ?? [])]) {
      expect(await getOutboxEvent(db.sql, { eventId: id })).toMatchObject({ has_payload: true });
    }
    for (const id of ids.get('out') ?? []) {
      expect(await getOutboxEvent(db.sql, { eventId: id })).toBeUndefined();
    }
    await replayEvents(db.sql, {
      eventIds: [ids.get('poison')?.[0] ?? ''],
      reason: 'r',
      actor: 'a',
    });
    await relay(db.sql, publisher);
    expect(publisher.sent('poison')).toEqual(ids.get('poison'));
  });

  test('goes on where it stopped, whatever the size of its steps', async () => {
    // One settlement gives many events the same time.
    await appendRounds(db.sql, ['1'], 30);
    await relay(db.sql, publisher);
    await ages(31);
    const steps: number[] = [];
    for (;;) {
      const { removed } = await retainOutbox(db.sql, { limit: 7, ...DAYS });
      if (removed === 0) break;
      steps.push(removed);
    }
    expect(steps).toEqual([7, 7, 7, 7, 2]);
    const { rows } = await db.pool.query(
      'select count(*)::int as left from leasehold.outbox_events where payload is not null',
    );
    expect(rows).toEqual([{ left: 0 }]);
  });

  test('an event without a body has lost nothing, and says so', async () => {
    const { payload: _, ...event } = newEvent();
    await appendEvent(db.sql, { event, actor: 'test' });
    await relay(db.sql, publisher);
    await ages(31);
    await retained();
    expect(await getOutboxEvent(db.sql, { eventId: event.id })).toMatchObject({
      has_payload: false,
      payload_dropped_at: null,
    });
  });

  test('a repeated append after the payload is gone is still the same event', async () => {
    const event = newEvent();
    await appendEvent(db.sql, { event, actor: 'test' });
    await relay(db.sql, publisher);
    await ages(31);
    await retained();
    expect(await appendEvent(db.sql, { event, actor: 'test' })).toMatchObject({
      outcome: 'exists',
    });
  });

  test('forgets what a consumer recorded long ago', async () => {
    const old = uuidv7();
    for (const id of [old, uuidv7()]) {
      await db.sql.query('select * from leasehold.accept_event($1, $2)', ['stock', id]);
    }
    await db.pool.query(
      `update leasehold.inbox_events set at = at - interval '61 days' where event_id = $1`,
      [old],
    );
    expect(await retained()).toBe(1);
    const { rows } = await db.pool.query('select 1 from leasehold.inbox_events');
    expect(rows).toHaveLength(1);
  });

  test('two passes at once do not wait for each other', async () => {
    const client = await db.pool.connect();
    await client.query('begin');
    await client.query('select 1 from leasehold.outbox_retention for update');
    expect(await retainOutbox(db.sql, { limit: 10, ...DAYS })).toEqual({ removed: 0 });
    await client.query('rollback');
    client.release();
  });

  test.each([
    ['payload_days', { payloadDays: 0 }],
    ['event_days', { eventDays: 1, payloadDays: 1 }],
    ['event_days', { eventDays: 20 }],
    ['inbox_days', { inboxDays: 0 }],
  ])('refuses %s %j', async (path, change) => {
    const input = { limit: 10, ...DAYS, ...change };
    await expect(retainOutbox(db.sql, input)).rejects.toMatchObject({ problems: [{ path }] });
  });
});

test('the log of the outbox refuses changes, truncation and young rows going', async () => {
  await db.pool.query(
    `insert into leasehold.outbox_log (event_id, type, actor) values ($1, 'failed', 'test')`,
    [uuidv7()],
  );
  for (const text of [
    `update leasehold.outbox_log set actor = 'x'`,
    'delete from leasehold.outbox_log',
    'truncate leasehold.outbox_log',
  ]) {
    await expect(db.pool.query(text)).rejects.toMatchObject({ code: 'LH003' });
  }
});
