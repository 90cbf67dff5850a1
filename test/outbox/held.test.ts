import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { OutboxEventDetails } from '../../shared/outbox/outbox-event.ts';
import { getOutboxEvent } from '../../shared/outbox/get-outbox-event.ts';
import { replayEvents } from '../../shared/outbox/replay-events.ts';
import { skipEvents } from '../../shared/outbox/skip-events.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  append,
  appendMany,
  appendRounds,
  clearOutbox,
  makeHoldsDue,
  pendingCount,
  relay,
} from './support/outbox.ts';
import { scriptedPublisher, type ScriptedPublisher } from './support/scripted-publisher.ts';

let db: TestDatabase;
let publisher: ScriptedPublisher;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(async () => {
  publisher = scriptedPublisher();
  await clearOutbox(db.pool);
});
afterAll(() => db.drop());

/** The delay is jittered from 0 on: without a wish of the receiver the same pass may try again. */
const failed = {
  outcome: 'failed',
  error: { code: 'http_500', message: 'No.' },
  retryAfterMs: 60_000,
} as const;
const away = { ...failed, away: true } as const;
const rejected = {
  outcome: 'rejected',
  error: { code: 'http_422', message: 'Version 9?' },
} as const;

async function event(id: string): Promise<OutboxEventDetails> {
  const found = await getOutboxEvent(db.sql, { eventId: id });
  if (found === undefined) throw new Error('no such event');
  return found;
}

async function sameShard(count: number): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>(
    `select i::text as id from generate_series(1, 10000) i where leasehold.outbox_shard('order', i::text) = 5 limit $1`,
    [count],
  );
  return rows.map(({ id }) => id);
}

describe('an event that fails (leasehold.sort_held_events)', () => {
  test('S4.4 holds back its own aggregate; others go on, and order is kept when it goes out', async () => {
    const [bad = '', good = ''] = await sameShard(2);
    const ids = await appendRounds(db.sql, [bad, good], 4);
    publisher.script = (one) => (one.aggregateId === bad && one.version === 2 ? failed : undefined);
    expect(await relay(db.sql, publisher)).toMatchObject({
      published: 5,
      failed: 1,
      quarantined: 0,
    });
    expect(publisher.sent(good)).toEqual(ids.get(good));
    expect(publisher.sent(bad)).toEqual(ids.get(bad)?.slice(0, 2));
    const [first, second, third] = ids.get(bad) ?? [];
    expect(await event(first ?? '')).toMatchObject({ state: 'published', attempts: 1 });
    expect(await event(second ?? '')).toMatchObject({
      state: 'held',
      attempts: 1,
      last_error: failed.error,
      held_by: null,
      log: [{ type: 'failed', details: { attempt: 1, error: failed.error } }],
    });
    expect(await event(third ?? '')).toMatchObject({ state: 'held', attempts: 0, held_by: second });

    publisher.script = () => undefined;
    await makeHoldsDue(db.pool);
    expect(await relay(db.sql, publisher)).toMatchObject({ published: 3 });
    expect(publisher.sent(bad)).toEqual([
      ...(ids.get(bad) ?? []).slice(0, 2),
      ...(ids.get(bad) ?? []).slice(1),
    ]);
    expect(publisher.attempts(second ?? '')).toEqual([1, 2]);
    expect(await event(second ?? '')).toMatchObject({
      state: 'published',
      attempts: 2,
      retry_at: null,
    });
    expect(await pendingCount(db.pool)).toBe(0);
    const { rows } = await db.pool.query('select 1 from leasehold.outbox_holds');
    expect(rows).toEqual([]);
  });

  test('waits with full jitter, no less than the receiver asks for', async () => {
    const { eventId } = await append(db.sql);
    publisher.script = () => failed;
    await relay(db.sql, publisher);
    const at = Date.parse((await event(eventId)).retry_at ?? '');
    expect(at - Date.now()).toBeGreaterThan(55_000);
    expect(at - Date.now()).toBeLessThan(62_000);
    expect(await relay(db.sql, publisher)).toMatchObject({ batches: 0, ended: 'empty' });
  });

  test('events that are appended behind it wait too', async () => {
    await append(db.sql);
    publisher.script = () => failed;
    await relay(db.sql, publisher);
    const later = await append(db.sql);
    expect(await event(later.eventId)).toMatchObject({ state: 'held' });
    expect(await relay(db.sql, publisher)).toMatchObject({ batches: 0 });
    expect(publisher.sent('42')).toHaveLength(1);
  });

  test('S4.4 an aggregate in hold with a long backlog costs the others nothing: 2,500 events before theirs', async () => {
    const [bad = '', good = ''] = await sameShard(2);
    await append(db.sql, { aggregateId: bad });
    publisher.script = (one) => (one.aggregateId === bad ? failed : undefined);
    await relay(db.sql, publisher);
    await appendMany(db.pool, bad, 2500);
    const { eventId } = await append(db.sql, { aggregateId: good });
    expect(await relay(db.sql, publisher)).toMatchObject({ published: 1, failed: 0 });
    expect(publisher.sent(good)).toEqual([eventId]);
    expect(publisher.sent(bad)).toHaveLength(1);

    publisher.script = () => undefined;
    await makeHoldsDue(db.pool);
    const started = publisher.published.length;
    while ((await relay(db.sql, publisher)).batches > 0);
    const versions = publisher.published.slice(started).map(({ version }) => version);
    expect(versions).toEqual(Array.from({ length: 2501 }, (_, i) => i + 1));
    expect(await pendingCount(db.pool)).toBe(0);
  });

  test('one that comes back into hold halfway through its backlog keeps the order', async () => {
    await append(db.sql);
    await appendMany(db.pool, '42', 1200);
    publisher.script = (one) => (one.version === 1 && one.attempt === 1 ? failed : undefined);
    await relay(db.sql, publisher);
    publisher.script = (one) => (one.version === 700 && one.attempt < 3 ? failed : undefined);
    for (let pass = 0; pass < 10 && (await pendingCount(db.pool)) > 0; pass += 1) {
      await makeHoldsDue(db.pool);
      await relay(db.sql, publisher);
    }
    const firsts = [...new Set(publisher.published.map(({ version }) => version))];
    expect(firsts).toEqual(Array.from({ length: 1201 }, (_, i) => i + 1));
    expect(publisher.published).toHaveLength(1201 + 3);
  });
});

describe('quarantine (leasehold.check_chosen)', () => {
  test('S4.7 takes a poison event after its tries; independent aggregates go on, its own waits', async () => {
    const [bad = '', good = ''] = await sameShard(2);
    const ids = await appendRounds(db.sql, [bad, good], 2);
    const [poison = '', behind = ''] = ids.get(bad) ?? [];
    publisher.script = (one) => (one.aggregateId === bad ? failed : undefined);
    for (let pass = 0; pass < 5; pass += 1) {
      await relay(db.sql, publisher, { maxAttempts: 3 });
      await makeHoldsDue(db.pool);
    }
    expect(publisher.attempts(poison)).toEqual([1, 2, 3]);
    expect(publisher.sent(good)).toEqual(ids.get(good));
    expect(await event(poison)).toMatchObject({
      state: 'quarantined',
      attempts: 3,
      last_error: failed.error,
      retry_at: null,
      log: [
        { type: 'failed' },
        { type: 'failed' },
        { type: 'quarantined', details: { attempt: 3 } },
      ],
    });
    expect(await event(behind)).toMatchObject({ state: 'held', held_by: poison });
    const later = await append(db.sql, { aggregateId: good });
    await relay(db.sql, publisher);
    expect((await event(later.eventId)).state).toBe('published');
  });

  test('S4.7 an event that the receiver rejects is there at once, with what it said', async () => {
    const { eventId } = await append(db.sql, { schemaVersion: 9 });
    publisher.script = () => rejected;
    expect(await relay(db.sql, publisher)).toMatchObject({ quarantined: 1, failed: 0 });
    expect(await event(eventId)).toMatchObject({
      state: 'quarantined',
      schema_version: 9,
      last_error: rejected.error,
    });
  });

  test('an outage quarantines nothing: events wait until the receiver is back', async () => {
    const { eventId } = await append(db.sql);
    publisher.script = () => away;
    for (let pass = 0; pass < 5; pass += 1) {
      await relay(db.sql, publisher, { maxAttempts: 3 });
      await makeHoldsDue(db.pool);
    }
    expect(await event(eventId)).toMatchObject({ state: 'held', attempts: 5 });
    publisher.script = () => undefined;
    await relay(db.sql, publisher);
    expect((await event(eventId)).state).toBe('published');
  });

  test('but an event that nobody takes while others go out is poison, and no event is tried for ever', async () => {
    const [bad = '', good = ''] = await sameShard(2);
    const poison = await append(db.sql, { aggregateId: bad });
    publisher.script = (one) => (one.aggregateId === bad ? away : undefined);
    for (let pass = 0; pass < 3; pass += 1) {
      await append(db.sql, { aggregateId: good });
      await relay(db.sql, publisher, { maxAttempts: 3 });
      await makeHoldsDue(db.pool);
    }
    expect(await event(poison.eventId)).toMatchObject({ state: 'quarantined', attempts: 3 });

    await db.pool.query("update leasehold.outbox_published set at = at - interval '1 hour'");
    const alone = await append(db.sql, { aggregateId: 'alone' });
    publisher.script = () => away;
    for (let pass = 0; pass < 12; pass += 1) {
      await relay(db.sql, publisher, { maxAttempts: 1 });
      await makeHoldsDue(db.pool);
    }
    expect(await event(alone.eventId)).toMatchObject({ state: 'quarantined', attempts: 10 });
  });

  test('S4.7 replay takes chosen ids and a reason: the same event goes out, and what waited follows', async () => {
    const [bad = '', other = ''] = await sameShard(2);
    const ids = await appendRounds(db.sql, [bad, other], 3);
    publisher.script = () => rejected;
    await relay(db.sql, publisher);
    const [poison = '', ...behind] = ids.get(bad) ?? [];
    publisher.script = () => undefined;
    const chosen = { reason: 'Schema 9 is known now.', actor: 'ana' };
    expect(await replayEvents(db.sql, { eventIds: [poison, behind[0] ?? ''], ...chosen })).toEqual(
      expect.arrayContaining([
        { eventId: poison, outcome: 'replayed' },
        { eventId: behind[0], outcome: 'not_quarantined' },
      ]),
    );
    expect(await replayEvents(db.sql, { eventIds: [poison], ...chosen })).toEqual([
      { eventId: poison, outcome: 'not_quarantined' },
    ]);
    await relay(db.sql, publisher);
    expect(publisher.sent(bad)).toEqual([poison, poison, ...behind]);
    expect(publisher.attempts(poison)).toEqual([1, 1]);
    expect((await event(poison)).log.at(-1)).toMatchObject({
      type: 'replayed',
      actor: 'ana',
      details: { reason: 'Schema 9 is known now.' },
    });
    // The one that nobody chose still waits.
    expect(publisher.sent(other)).toHaveLength(1);
  });

  test('S4.7 skip lets the aggregate go on without the event, and the gap is there to see', async () => {
    const ids = (await appendRounds(db.sql, ['42'], 3)).get('42') ?? [];
    publisher.script = (one) => (one.version === 1 ? rejected : undefined);
    await relay(db.sql, publisher);
    const [poison = '', ...behind] = ids;
    const chosen = { eventIds: [poison], reason: 'Test data.', actor: 'ana' };
    expect(await skipEvents(db.sql, chosen)).toEqual([{ eventId: poison, outcome: 'skipped' }]);
    expect(await skipEvents(db.sql, chosen)).toEqual([
      { eventId: poison, outcome: 'not_quarantined' },
    ]);
    await relay(db.sql, publisher);
    expect(publisher.sent('42')).toEqual([poison, ...behind]);
    expect(await event(poison)).toMatchObject({ state: 'skipped', done_by: 'ana' });
    expect(await pendingCount(db.pool)).toBe(0);
  });

  test.each([
    ['event_ids', { eventIds: [] }],
    [
      'event_ids',
      { eventIds: Array.from({ length: 101 }, () => '0193a1b2-c3d4-7e5f-8a6b-0123456789ab') },
    ],
    ['reason', { reason: '' }],
    ['actor', { actor: '' }],
  ])('refuses a decision without %s', async (path, change) => {
    const order = {
      eventIds: ['0193a1b2-c3d4-7e5f-8a6b-0123456789ab'],
      reason: 'r',
      actor: 'a',
      ...change,
    };
    for (const decide of [replayEvents, skipEvents]) {
      await expect(decide(db.sql, order)).rejects.toMatchObject({ problems: [{ path }] });
    }
  });
});
