import { uuidv7 } from 'uuidv7';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { createApp } from '../../functions/app.ts';
import { tick } from '../../functions/scheduled/tick.ts';
import { MAX_POKE_DEPTH, MAX_RELAY_MS } from '../../shared/limits.ts';
import { getOutboxEvent } from '../../shared/outbox/get-outbox-event.ts';
import { append, pendingCount } from '../outbox/support/outbox.ts';
import { scriptedPublisher } from '../outbox/support/scripted-publisher.ts';
import { createAppHarness, type AppHarness } from './support/app-harness.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterEach(async () => {
  await app.backgroundDone();
  app.pokes.length = 0;
});
afterAll(() => app.close());

const EVENT = { aggregate_type: 'order', aggregate_id: '42', type: 'order.placed' };
const RELAY = { queue: 'outbox', depth: 0, relay: true };

async function state(eventId: string): Promise<string | undefined> {
  return (await getOutboxEvent(app.database.sql, { eventId }))?.state;
}

describe('access', () => {
  test.each([
    ['POST', '/v1/outbox/events', EVENT],
    ['GET', '/v1/outbox/events', undefined],
    ['GET', `/v1/outbox/events/${uuidv7()}`, undefined],
    ['POST', '/v1/outbox/replay', { event_ids: [uuidv7()], reason: 'r' }],
    ['POST', '/v1/outbox/skip', { event_ids: [uuidv7()], reason: 'r' }],
    ['GET', '/v1/outbox/feed', undefined],
    ['GET', '/v1/outbox/aggregates/order/42/events', undefined],
    ['GET', '/v1/outbox/metrics', undefined],
    ['POST', '/v1/work', RELAY],
  ])('%s %s is not for a token that is limited to queues', async (method, path, body) => {
    const answer = await app.call(method, path, { body, queues: ['emails'] });
    expect([answer.status, answer.body['code']]).toEqual([403, 'forbidden']);
  });

  test.each([
    ['POST', '/v1/outbox/events', 'read'],
    ['GET', '/v1/outbox/events', 'enqueue'],
    ['POST', '/v1/outbox/replay', 'enqueue read work'],
    ['POST', '/v1/outbox/skip', 'enqueue read work'],
  ])('%s %s is not for the scope %s', async (method, path, scope) => {
    const body = method === 'POST' ? EVENT : undefined;
    expect((await app.call(method, path, { body, scope })).status).toBe(403);
  });
});

describe('an append over HTTP', () => {
  test('names who appended, carries the trace of its request, and is found under its Location', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const answer = await app.call('POST', '/v1/outbox/events', {
      body: { ...EVENT, headers: { tenant: 'acme' } },
      headers: { traceparent },
      actor: 'shop',
    });
    expect(answer.status).toBe(201);
    const read = await app.call('GET', answer.headers.get('location') ?? '');
    expect(read.body).toMatchObject({
      created_by: 'shop',
      headers: { traceparent, tenant: 'acme' },
      has_payload: false,
    });
  });

  test('pokes the relay after its commit, where there is a publisher', async () => {
    await app.call('POST', '/v1/outbox/events', { body: EVENT });
    await app.backgroundDone();
    expect(app.pokes).toEqual([]);
    const deps = app.deps({ publisher: scriptedPublisher() });
    await app.callApp({ deps }, await app.request('POST', '/v1/outbox/events', { body: EVENT }));
    await app.backgroundDone();
    expect(app.pokes).toEqual([RELAY]);
  });

  test.each([
    ['aggregate_type', { aggregate_type: '' }],
    ['aggregate_id', { aggregate_id: 'x'.repeat(201) }],
    ['type', { type: undefined }],
    ['version', { version: 0 }],
    ['schema_version', { schema_version: 1_000_001 }],
    ['headers', { headers: { 'With Space': 'x' } }],
    ['occurred_at', { occurred_at: 'yesterday' }],
    ['payload', { payload: 'x'.repeat(256 * 1024) }],
    ['total', { total: 10 }],
  ])('names %s', async (path, change) => {
    const answer = await app.call('POST', '/v1/outbox/events', { body: { ...EVENT, ...change } });
    expect(answer.body).toMatchObject({ code: 'invalid_request', problems: [{ path }] });
  });

  test('one Idempotency-Key is one event', async () => {
    const send = (): ReturnType<AppHarness['call']> =>
      app.call('POST', '/v1/outbox/events', {
        body: { ...EVENT, aggregate_id: 'keyed' },
        headers: { 'idempotency-key': 'one' },
      });
    const [first, second] = [await send(), await send()];
    expect(second.body['id']).toBe(first.body['id']);
    const found = await app.call('GET', '/v1/outbox/aggregates/order/keyed/events');
    expect(found.body['events']).toHaveLength(1);
  });
});

describe('a poke for the relay', () => {
  test('publishes what waits, and says what it did', async () => {
    const publisher = scriptedPublisher();
    const { eventId } = await append(app.database.sql, { aggregateId: 'poked' });
    const deps = app.deps({ publisher });
    const poke = async (): Promise<unknown> =>
      (await app.callApp({ deps }, await app.request('POST', '/v1/work', { body: RELAY }))).body;
    expect(await poke()).toMatchObject({ outcome: 'relayed', failed: 0, ended: 'empty' });
    expect(await state(eventId)).toBe('published');
    expect(await poke()).toEqual({ outcome: 'empty', queue: 'outbox' });
  });

  test.each([
    [0, [{ ...RELAY, depth: 1 }]],
    [MAX_POKE_DEPTH, []],
  ])('at depth %i whose time was up pokes on: %j', async (depth, pokes) => {
    await append(app.database.sql, { aggregateId: 'slow' });
    await append(app.database.sql, { aggregateId: 'slow too' });
    const publisher = scriptedPublisher();
    let now = Date.now();
    publisher.script = () => {
      now += MAX_RELAY_MS;
      return undefined;
    };
    const deps = app.deps({ publisher, clock: { now: () => now }, invocationMs: 3_600_000 });
    const request = await app.request('POST', '/v1/work', { body: { ...RELAY, depth } });
    const response = await createApp(deps).fetch(request);
    expect(await response.json()).toMatchObject({ outcome: 'relayed', ended: 'time_up' });
    await app.backgroundDone();
    expect(app.pokes).toEqual(pokes);
  });

  test('is refused without a signature and without a token', async () => {
    expect((await app.call('POST', '/v1/work', { body: RELAY, scope: null })).status).toBe(401);
  });
});

describe('a tick', () => {
  test('publishes what no poke has brought out', async () => {
    const publisher = scriptedPublisher();
    const { eventId } = await append(app.database.sql, { aggregateId: 'ticked' });
    await tick(app.deps({ publisher }));
    expect(await state(eventId)).toBe('published');
    expect(await pendingCount(app.database.pool)).toBe(0);
  });

  test('asks the outbox nothing where nothing is published', async () => {
    const seen: string[] = [];
    const { sql } = app.http;
    await tick(
      app.deps({
        sql: {
          query: (text, values, options) => {
            seen.push(text);
            return sql.query(text, values, options);
          },
        },
      }),
    );
    expect(seen.join()).not.toContain('claim_events');
  });

  test('goes on with retention when the relay fails, and fails as a whole', async () => {
    app.http.endpoint.faults.next({ kind: 'sql_error', code: 'XX000' }, { match: /claim_events/ });
    const publisher = scriptedPublisher();
    await expect(tick(app.deps({ publisher }))).rejects.toMatchObject({ code: 'database_error' });
    expect(app.log.text).toContain('"part":"relay"');
  });
});
