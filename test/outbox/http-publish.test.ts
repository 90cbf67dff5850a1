import { HTTP } from 'cloudevents';
import type { CloudEvent } from 'cloudevents';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { appendEvent } from '../../shared/outbox/append-event.ts';
import { createHttpPublisher } from '../../shared/publish/http.ts';
import type { HttpFormat } from '../../shared/publish/http-request.ts';
import type { Publisher } from '../../shared/publish/publisher.ts';
import { Secret } from '../../shared/secret.ts';
import { startReceiver } from '../push/support/receiver.ts';
import type { Received, Receiver } from '../push/support/receiver.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { NODE_PORTS } from '../support/pg-sql.ts';
import { append, newEvent, pendingCount, publishedIds, relay } from './support/outbox.ts';

const OLD_KEY = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const NEW_KEY = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;

let db: TestDatabase;
let receiver: Receiver;
beforeAll(async () => {
  db = await createTestDatabase();
  receiver = await startReceiver([OLD_KEY, NEW_KEY]);
});
beforeEach(async () => {
  receiver.received.length = 0;
  await receiver.answer({ status: 200 });
});
afterAll(async () => {
  await receiver.close();
  await db.drop();
});

function publisher(format: HttpFormat): Publisher {
  return createHttpPublisher({
    url: new URL(receiver.url('/events')),
    format,
    source: '/shop',
    keys: [new Secret(NEW_KEY), new Secret(OLD_KEY)],
    outbound: { fetch: (request: Request) => fetch(request) },
    ...NODE_PORTS,
  });
}

/** What the `cloudevents` package, which shares no code with the sender, makes of a request. */
function read(received: Received | undefined): CloudEvent<unknown> {
  if (received === undefined) throw new Error('nothing was received');
  const read = HTTP.toEvent({
    headers: received.headers as Record<string, string>,
    body: Buffer.from(received.body, 'base64').toString('utf8'),
  });
  if (Array.isArray(read)) throw new Error('a batch');
  return read as CloudEvent<unknown>;
}

/** The payload's text as it came; undefined: there is none. */
function dataText(format: HttpFormat, body: string): string | undefined {
  if (format === 'structured') return /"data":(.*)\}$/s.exec(body)?.[1];
  return body === '' ? undefined : body;
}

describe.each<HttpFormat>(['structured', 'binary'])('a published event, %s', (format) => {
  test('S4.2 carries the whole envelope, readable by an independent CloudEvents library', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const { eventId, version } = await append(db.sql, {
      aggregateType: 'order',
      aggregateId: `${format} 100 % "naïve" 订单`,
      type: 'order.placed',
      schemaVersion: 3,
      payload: { total: 10, note: 'ünïcode ✓' },
      headers: { traceparent, tenant: 'acme', 'not-for-cloudevents': 'x' },
      occurredAt: '2026-01-02T03:04:05.678Z',
    });
    const report = await relay(db.sql, publisher(format));
    expect(report).toMatchObject({ published: 1, failed: 0, ended: 'empty' });
    const [received] = receiver.received;
    expect(received?.verdicts).toEqual(['verified', 'verified']);
    expect(received?.headers).toMatchObject({
      'webhook-id': eventId,
      'idempotency-key': eventId,
      'leasehold-attempt': '1',
      traceparent,
    });
    const event = read(received);
    expect(event.validate()).toBe(true);
    const decoded = (text: unknown): string =>
      format === 'binary' ? decodeURIComponent(String(text)) : String(text);
    expect(event).toMatchObject({
      id: eventId,
      source: '/shop',
      specversion: '1.0',
      type: 'order.placed',
      datacontenttype: 'application/json',
      data: { total: 10, note: 'ünïcode ✓' },
      traceparent,
      tenant: 'acme',
    });
    expect(new Date(event.time ?? '').toISOString()).toBe('2026-01-02T03:04:05.678Z');
    expect(decoded(event['aggregateid'])).toBe(`${format} 100 % "naïve" 订单`);
    expect(decoded(event.subject)).toBe(`order/${format} 100 % "naïve" 订单`);
    expect(String(event['aggregateversion'])).toBe(String(version));
    expect(Number(event['schemaversion'])).toBe(3);
    expect(await publishedIds(db.pool)).toContain(eventId);
  });

  test('I3 bodies that are missing, null, empty and zero arrive apart, and signed as they are', async () => {
    const bodies = [undefined, null, {}, '', 0];
    const texts: (string | undefined)[] = [undefined, 'null', '{}', '""', '0'];
    const ids: string[] = [];
    for (const payload of bodies) {
      const { payload: _, ...event } = newEvent({ aggregateId: uuidv7() });
      const body = payload === undefined ? {} : { payload };
      await appendEvent(db.sql, { event: { ...event, ...body }, actor: 'test' });
      ids.push(event.id);
    }
    expect(await relay(db.sql, publisher(format))).toMatchObject({ published: 5, failed: 0 });
    for (const [at, id] of ids.entries()) {
      const received = receiver.received.find((one) => one.headers['webhook-id'] === id);
      expect(received?.verdicts).toEqual(['verified', 'verified']);
      const body = Buffer.from(received?.body ?? '', 'base64').toString();
      expect(dataText(format, body)).toBe(texts[at]);
      expect(received?.headers['content-type']).toBe(
        format === 'structured'
          ? 'application/cloudevents+json; charset=utf-8'
          : texts[at] && 'application/json',
      );
      expect(read(received).validate()).toBe(true);
    }
    expect(await pendingCount(db.pool)).toBe(0);
  });

  test('numbers that JavaScript cannot hold keep their digits', async () => {
    const id = uuidv7();
    await db.pool.query(
      `select * from leasehold.append_event($1, 'order', 'digits', 'order.placed',
         '{"large": 12345678901234567890, "exact": 1.0, "z": 1, "a": 2}')`,
      [id],
    );
    await relay(db.sql, publisher(format));
    const received = receiver.received.find((one) => one.headers['webhook-id'] === id);
    const body = Buffer.from(received?.body ?? '', 'base64').toString();
    expect(body).toContain('"large": 12345678901234567890');
    expect(body).toContain('"exact": 1.0');
    expect(received?.verdicts).toEqual(['verified', 'verified']);
  });
});
