/** Events read as they come: from our own publishers, and from the `cloudevents` package, which shares no code with them. */
import { CloudEvent, HTTP, type Message } from 'cloudevents';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isOrdered,
  readCloudEvent,
  type ReadOutcome,
} from '../../shared/inbox/read-cloud-event.ts';
import { eventRequest } from '../../shared/publish/http-request.ts';
import type { PublishedEvent } from '../../shared/published-event.ts';
import { publishedEvent } from '../broker/support/published-event.ts';

const KEY = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

function read(headers: Readonly<Record<string, string>>, body: string): ReadOutcome {
  return readCloudEvent({ header: (name) => headers[name], body });
}

async function overHttp(
  event: PublishedEvent,
  format: 'structured' | 'binary',
): Promise<ReadOutcome> {
  const request = eventRequest({
    url: new URL('https://consumer.example/'),
    event,
    format,
    source: '/orders',
    keys: [KEY],
    nowMs: 0,
    signal: new AbortController().signal,
  });
  return read(Object.fromEntries(request.headers), await request.text());
}

describe.each(['structured', 'binary'] as const)('%s mode', (format) => {
  test('what our publisher sends is read back whole', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const event = publishedEvent({
      version: 2 ** 40,
      schemaVersion: 3,
      payloadJson: '{"exact": 9007199254740993, "data": [1]}',
      headers: { traceparent },
    });
    const outcome = await overHttp(event, format);
    expect(outcome).toEqual({
      outcome: 'event',
      event: {
        id: event.id,
        type: 'order.placed',
        source: '/orders',
        aggregateType: 'order',
        aggregateId: '42',
        version: 2 ** 40,
        schemaVersion: 3,
        occurredAt: event.occurredAt,
        traceparent,
        payloadJson: '{"exact": 9007199254740993, "data": [1]}',
        payload: expect.objectContaining({ data: [1] }) as unknown,
      },
    });
    expect(outcome.outcome === 'event' && isOrdered(outcome.event)).toBe(true);
  });

  test('any name of an aggregate and a type comes through', async () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(name, name, name, async (aggregateType, aggregateId, type) => {
        const outcome = await overHttp(
          publishedEvent({ aggregateType, aggregateId, type }),
          format,
        );
        expect(outcome).toMatchObject({ event: { aggregateType, aggregateId, type } });
      }),
    );
  });

  test.each<[string, string | undefined]>([
    ['no body', undefined],
    ['JSON null', 'null'],
    ['an empty object', '{}'],
    ['an empty text', '""'],
    ['zero', '0'],
  ])('case I3 %s is told from the others', async (_what, payloadJson) => {
    const outcome = await overHttp(publishedEvent({ payloadJson }), format);
    const event = 'event' in outcome ? outcome.event : {};
    expect(event).toMatchObject({ id: expect.any(String) as string });
    expect('payloadJson' in event ? event.payloadJson : undefined).toBe(payloadJson);
    expect('payload' in event).toBe(payloadJson !== undefined);
  });

  test('an event of the cloudevents package, which knows no aggregates', () => {
    const made = new CloudEvent({
      id: 'e-1',
      type: 'com.example.thing',
      source: 'https://example.com/things',
      data: { a: [1, 'zwei'] },
    });
    const message: Message = HTTP[format](made);
    const outcome = read(message.headers as Record<string, string>, String(message.body));
    expect(outcome).toMatchObject({
      outcome: 'event',
      event: { id: 'e-1', type: 'com.example.thing', payload: { a: [1, 'zwei'] } },
    });
    expect(outcome.outcome === 'event' && isOrdered(outcome.event)).toBe(false);
  });
});

describe('what is not an event is said, never thrown', () => {
  const structured = { 'content-type': 'application/cloudevents+json' };
  const good = { specversion: '1.0', id: 'a', type: 't', source: '/s' };
  test.each<[string, string]>([
    ['', 'not a JSON object'],
    ['[]', 'not a JSON object'],
    ['{', 'not a JSON object'],
    ['['.repeat(100_000), 'nested too deep'],
    [JSON.stringify({ ...good, specversion: '0.3' }), 'specversion'],
    [JSON.stringify({ ...good, id: '' }), 'id: '],
    [JSON.stringify({ ...good, id: 'x'.repeat(10_240) }), 'id: '],
    [JSON.stringify({ ...good, id: 'a\u0000' }), 'id: '],
    [JSON.stringify({ ...good, type: null }), 'type: '],
    [JSON.stringify({ ...good, source: '' }), 'source: '],
    [JSON.stringify({ ...good, aggregateversion: '0' }), 'aggregateversion: '],
    [JSON.stringify({ ...good, aggregateversion: '9007199254740993' }), 'aggregateversion: '],
    [JSON.stringify({ ...good, schemaversion: 1.5 }), 'schemaversion: '],
    [JSON.stringify({ ...good, data_base64: 'AA==' }), 'not JSON'],
    [JSON.stringify({ constructor: '1.0' }), 'specversion'],
  ])('structured %j', (body, message) => {
    expect(read(structured, body)).toEqual({
      outcome: 'invalid',
      message: expect.stringContaining(message) as string,
    });
  });

  test.each<[Record<string, string>, string, string]>([
    [{}, '{}', 'specversion'],
    [{ 'ce-specversion': '1.0', 'ce-id': 'a', 'ce-type': 't', 'ce-source': '/s' }, '{', 'not JSON'],
    [{ 'ce-specversion': '1.0', 'ce-id': '%0a', 'ce-type': 't', 'ce-source': '/s' }, '', 'id: '],
  ])('binary %j', (headers, body, message) => {
    expect(read(headers, body)).toEqual({
      outcome: 'invalid',
      message: expect.stringContaining(message) as string,
    });
  });

  test('a header with a lone percent stands for itself', () => {
    const headers = { 'ce-specversion': '1.0', 'ce-id': '100%', 'ce-type': 't', 'ce-source': '/' };
    expect(read(headers, '')).toMatchObject({ event: { id: '100%' } });
  });
});
