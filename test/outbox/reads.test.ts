import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { eventsSince } from '../../shared/outbox/events-since.ts';
import { getOutboxEvent } from '../../shared/outbox/get-outbox-event.ts';
import { listOutboxEvents } from '../../shared/outbox/list-outbox-events.ts';
import type { OutboxState } from '../../shared/outbox/outbox-event.ts';
import { outboxMetrics } from '../../shared/outbox/outbox-metrics.ts';
import { outboxNextDue } from '../../shared/outbox/outbox-next-due.ts';
import { skipEvents } from '../../shared/outbox/skip-events.ts';
import { claimEvents } from '../../shared/outbox/claim-events.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  append,
  appendMany,
  appendRounds,
  clearOutbox,
  expireShards,
  relay,
} from './support/outbox.ts';
import { scriptedPublisher } from './support/scripted-publisher.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(() => clearOutbox(db.pool));
afterAll(() => db.drop());

const failed = { outcome: 'failed', error: { code: 'http_500', message: 'No.' } } as const;
const rejected = { outcome: 'rejected', error: { code: 'http_422', message: 'No.' } } as const;

/** Ids of all pages. */
async function listed(
  filter: Omit<Parameters<typeof listOutboxEvents>[1], 'limit' | 'cursor'>,
  limit = 2,
): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await listOutboxEvents(db.sql, {
      ...filter,
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    });
    expect(page.events.length).toBeLessThanOrEqual(limit);
    ids.push(...page.events.map(({ id }) => id));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return ids;
}

/** Three aggregates in each state of interest; ids by state. */
async function everyState(): Promise<Record<OutboxState, string[]>> {
  const names = ['p', 'q', 'r'];
  const publisher = scriptedPublisher();
  publisher.script = (event) => {
    if (event.aggregateId.startsWith('poison')) return rejected;
    if (event.aggregateId.startsWith('failing')) return { ...failed, retryAfterMs: 60_000 };
    return undefined;
  };
  const out = await appendRounds(
    db.sql,
    names.map((name) => `out ${name}`),
    1,
  );
  const failing = await appendRounds(
    db.sql,
    names.map((name) => `failing ${name}`),
    2,
  );
  const poison = await appendRounds(
    db.sql,
    names.map((name) => `poison ${name}`),
    1,
  );
  await relay(db.sql, publisher);
  const [skipped = ''] = poison.get('poison p') ?? [];
  await skipEvents(db.sql, { eventIds: [skipped], reason: 'r', actor: 'ana' });
  const free = await appendRounds(
    db.sql,
    names.map((name) => `free ${name}`),
    1,
  );
  const flat = (of: Map<string, string[]>): string[] => [...of.values()].flat();
  return {
    pending: flat(free),
    held: flat(failing),
    quarantined: flat(poison).filter((id) => id !== skipped),
    published: flat(out),
    skipped: [skipped],
  };
}

describe('leasehold.list_outbox_events', () => {
  test('finds events by each state, by pages', async () => {
    const expected = await everyState();
    for (const state of Object.keys(expected) as OutboxState[]) {
      const found = await listed({ state });
      expect([state, found.toSorted()]).toEqual([state, expected[state].toSorted()]);
    }
  });

  test('gives what waits oldest first, everything else newest first', async () => {
    const expected = await everyState();
    expect(await listed({ state: 'pending' })).toEqual(expected.pending);
    const all = Object.values(expected).flat();
    expect(await listed({}, 5)).toEqual(all.toSorted().toReversed());
  });

  test('gives the events of an aggregate newest first, of one state where that is asked for', async () => {
    const ids = (await appendRounds(db.sql, ['a', 'b'], 5)).get('a') ?? [];
    const aggregate = { aggregateType: 'order', aggregateId: 'a' };
    expect(await listed(aggregate)).toEqual(ids.toReversed());
    const publisher = scriptedPublisher();
    publisher.script = (event) => (event.version === 3 ? failed : undefined);
    await relay(db.sql, publisher);
    expect(await listed({ ...aggregate, state: 'published' })).toEqual(
      ids.slice(0, 2).toReversed(),
    );
    expect(await listed({ ...aggregate, state: 'held' })).toEqual(ids.slice(2).toReversed());
  });

  test('looks at 2,000 events a call at most, and goes on with a cursor', async () => {
    await appendMany(db.pool, 'many', 2100);
    const page = await listOutboxEvents(db.sql, {
      aggregateType: 'order',
      aggregateId: 'many',
      state: 'published',
      limit: 10,
    });
    expect(page).toEqual({ events: [], nextCursor: '101' });
  });

  test.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: 201 }],
    ['cursor', { limit: 1, cursor: 'x' }],
    ['aggregate_id', { limit: 1, aggregateType: 'order' }],
    ['aggregate_id', { limit: 1, aggregateId: '1' }],
  ])('refuses %s %j', async (path, input) => {
    await expect(listOutboxEvents(db.sql, input)).rejects.toMatchObject({ problems: [{ path }] });
  });
});

describe('leasehold.get_outbox_event and leasehold.outbox_event_document', () => {
  test('S4.2 show the envelope with times, attempts and the last error', async () => {
    const { eventId } = await append(db.sql, {
      schemaVersion: 2,
      headers: { traceparent: '00-a' },
      occurredAt: '2026-01-02T03:04:05.678Z',
    });
    const publisher = scriptedPublisher();
    publisher.script = () => failed;
    await relay(db.sql, publisher);
    expect(await getOutboxEvent(db.sql, { eventId })).toMatchObject({
      id: eventId,
      aggregate_type: 'order',
      aggregate_id: '42',
      version: 1,
      type: 'order.placed',
      schema_version: 2,
      payload: { total: 10 },
      has_payload: true,
      headers: { traceparent: '00-a' },
      occurred_at: '2026-01-02T03:04:05.678Z',
      created_at: expect.stringMatching(/^2\d{3}-.*Z$/) as unknown,
      created_by: 'test',
      attempts: 1,
      last_error: failed.error,
      retry_at: expect.stringMatching(/Z$/) as unknown,
      done_at: null,
    });
    expect(await getOutboxEvent(db.sql, { eventId: uuidv7() })).toBeUndefined();
  });
});

describe('leasehold.events_since', () => {
  test('gives every event once, in pages, each with a cursor', async () => {
    await appendMany(db.pool, 'fed', 25);
    const seen: number[] = [];
    let cursor: string | undefined;
    const readOn = async (): Promise<number> => {
      const events = await eventsSince(db.sql, {
        limit: 10,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...events.map(({ version }) => version));
      cursor = events.at(-1)?.cursor ?? cursor;
      return seen.length;
    };
    // An open transaction of any database of the server holds the feed up.
    await expect.poll(readOn, { timeout: 60_000 }).toBe(25);
    expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => i + 1));
  }, 120_000);

  test.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: 501 }],
    ['cursor', { limit: 1, cursor: 'x' }],
  ])('refuses %s %j', async (path, input) => {
    await expect(eventsSince(db.sql, input)).rejects.toMatchObject({ problems: [{ path }] });
  });
});

describe('leasehold.outbox_next_due', () => {
  test('is never, now, the end of a lease, or the time of a held event', async () => {
    const inSeconds = async (): Promise<number | undefined> => {
      const at = await outboxNextDue(db.sql);
      return at === undefined ? undefined : Math.round((at.getTime() - Date.now()) / 1000) + 0;
    };
    expect(await inSeconds()).toBeUndefined();
    await append(db.sql);
    expect(await inSeconds()).toBe(0);
    await claimEvents(db.sql, {
      owner: 'dies',
      claimId: uuidv7(),
      leaseSeconds: 300,
      limit: 1,
    });
    expect(await inSeconds()).toBe(300);
    await expireShards(db.pool);
    const publisher = scriptedPublisher();
    publisher.script = () => ({ ...failed, retryAfterMs: 60_000 });
    await relay(db.sql, publisher);
    expect(await inSeconds()).toBe(60);
    publisher.script = () => rejected;
    await db.pool.query('update leasehold.outbox_holds set due_at = clock_timestamp()');
    await relay(db.sql, publisher);
    // Quarantined: nothing comes due by itself.
    expect(await inSeconds()).toBeUndefined();
  });
});

describe('leasehold.outbox_metrics and leasehold.inbox_metrics', () => {
  test('S4.8 tell age, counts, rates, batches, consumers, growth and retention', async () => {
    await everyState();
    await db.pool
      .query(`update leasehold.outbox_pending set due_since = due_since - interval '90 seconds'
      where aggregate_id = 'failing p'`);
    const { rows } = await db.pool.query<{ event_id: string }>(
      `select event_id from leasehold.outbox_published where outcome = 'published'`,
    );
    for (const { event_id } of [...rows, ...rows]) {
      await db.sql.query('select * from leasehold.accept_event($1, $2)', ['stock', event_id]);
    }
    await db.sql.query('select * from leasehold.accept_event($1, $2)', ['foreign', 'not a uuid']);
    await db.sql.query(`select leasehold.park_event('late', 'e', 'order', '1', 5, '{}')`, []);
    const metrics = await outboxMetrics(db.sql);
    expect(metrics).toMatchObject({
      pending: { count: 3, capped: false },
      // Three that failed, three behind them, two in quarantine.
      held: { count: 8, capped: false },
      quarantined: { count: 2, capped: false },
      last_minutes: { published: 3, tries: 9, failures: 6, failure_rate: 0.6667 },
      consumers: [
        { consumer: 'foreign', accepted: 1, duplicates: 0, mean_lag_ms: null, parked: 0 },
        { consumer: 'late', accepted: 0, parked: 1 },
        { consumer: 'stock', accepted: 3, duplicates: 3, parked: 0 },
      ],
      retention: { payloads_dropped_until: null },
    });
    expect(metrics.oldest_unpublished_seconds).toBeGreaterThanOrEqual(90);
    expect(metrics.oldest_unpublished_seconds).toBeLessThan(120);
    expect(metrics.last_minutes.per_second).toBeGreaterThan(0);
    expect(metrics.batches.mean_ms).toBeGreaterThanOrEqual(0);
    expect(metrics.batches.newest_at).toMatch(/Z$/);
    expect(metrics.consumers[2]?.mean_lag_ms).toBeGreaterThan(0);
    const tables = new Map(metrics.tables.map(({ table, bytes }) => [table, bytes]));
    expect([...tables.keys()]).toEqual(
      expect.arrayContaining(['aggregates', 'inbox_events', 'outbox_events', 'outbox_pending']),
    );
    expect(tables.get('outbox_events')).toBeGreaterThan(0);
    expect(metrics.retention.oldest_event_at).toMatch(/Z$/);
  });

  test('say that nothing waits', async () => {
    const metrics = await outboxMetrics(db.sql);
    expect(metrics).toMatchObject({
      oldest_unpublished_seconds: null,
      pending: { count: 0, capped: false },
      batches: { newest_at: null, mean_ms: null },
      retention: { oldest_event_at: null },
    });
  });

  test('stop counting at 10,000', async () => {
    for (let i = 0; i < 3; i += 1) await appendMany(db.pool, `many ${i}`, 4000);
    expect((await outboxMetrics(db.sql)).pending).toEqual({ count: 10_000, capped: true });
  });
});
