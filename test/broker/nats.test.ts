/** The publisher to NATS JetStream, on a real server. */
import type { JetStreamManager } from '@nats-io/jetstream';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { natsSubject } from '../../functions/publish/nats-subject.ts';
import { createNatsPublisher } from '../../functions/publish/nats.ts';
import type { PublishOutcome, Publisher } from '../../shared/publish/publisher.ts';
import { startBroker, stored, type Broker } from './support/broker.ts';
import { publishedEvent } from './support/published-event.ts';
import { withBroker } from './support/with-broker.ts';

const STREAM = 'EVENTS';
const { signal } = new AbortController();

withBroker('publishing to NATS', () => {
  let broker: Broker;
  let manager: JetStreamManager;
  let publisher: Publisher;
  beforeAll(async () => {
    broker = await startBroker(['max_payload: 100000', 'max_control_line: 4096']);
    manager = await broker.manage();
    await manager.streams.add({ name: STREAM, subjects: ['events.>'] });
    publisher = publisherOf(broker);
  });
  afterAll(async () => {
    await publisher.close?.();
    await broker.close();
  });

  test('an event is one message: its payload as it is, its envelope in CloudEvents headers', async () => {
    const event = publishedEvent({
      aggregateId: 'ü 42%',
      version: 7,
      schemaVersion: 3,
      payloadJson: '{"exact": 9007199254740993}',
      headers: { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
    });
    expect(await publisher.publish(event, { signal })).toEqual({ outcome: 'published' });
    const [message] = (await stored(manager, STREAM)).slice(-1);
    expect(message).toMatchObject({
      subject: 'events.order.ü%2042%25.order.placed',
      text: event.payloadJson,
      headers: {
        'Nats-Msg-Id': event.id,
        'content-type': 'application/json',
        'ce-specversion': '1.0',
        'ce-id': event.id,
        'ce-source': '/orders',
        'ce-type': 'order.placed',
        'ce-subject': 'order/%C3%BC%2042%25',
        'ce-time': event.occurredAt,
        'ce-aggregatetype': 'order',
        'ce-aggregateid': '%C3%BC%2042%25',
        'ce-aggregateversion': '7',
        'ce-schemaversion': '3',
        'ce-traceparent': event.headers['traceparent'],
      },
    });
  });

  test('S4.3 the same event again is dropped by the window of the stream, and counts as published', async () => {
    const event = publishedEvent();
    const before = (await stored(manager, STREAM)).length;
    for (const attempt of [1, 2, 3]) {
      expect(await publisher.publish({ ...event, attempt }, { signal })).toEqual({
        outcome: 'published',
      });
    }
    expect(await stored(manager, STREAM)).toHaveLength(before + 1);
  });

  test.each<[string, string | undefined]>([
    ['no body', undefined],
    ['JSON null', 'null'],
    ['an empty object', '{}'],
    ['an empty text', '""'],
    ['zero', '0'],
  ])(
    'case I3 an event with %s is delivered and can be told from the others',
    async (_what, json) => {
      const payload = json === undefined ? undefined : (JSON.parse(json) as null);
      const event = publishedEvent({ payload, payloadJson: json });
      expect(await publisher.publish(event, { signal })).toEqual({ outcome: 'published' });
      const [message] = (await stored(manager, STREAM)).slice(-1);
      expect(message).toMatchObject({ text: json ?? '', headers: { 'ce-id': event.id } });
      expect(message?.headers['content-type']).toBe(
        json === undefined ? undefined : 'application/json',
      );
    },
  );

  test('any aggregate and type the outbox takes has a subject of its own, which the server takes', async () => {
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 128 });
    const names = fc.record({ aggregateType: name, aggregateId: name, type: name });
    const subjects = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(names, async (given) => {
        const event = publishedEvent(given);
        expect(await publisher.publish(event, { signal })).toEqual({ outcome: 'published' });
        const subject = natsSubject('events', event);
        const key = JSON.stringify(given);
        expect(subjects.get(subject) ?? key).toBe(key);
        subjects.set(subject, key);
      }),
      { numRuns: 200 },
    );
    const seen = new Set((await stored(manager, STREAM)).map(({ subject }) => subject));
    expect([...subjects.keys()].filter((subject) => !seen.has(subject))).toEqual([]);
  });

  test.each([
    ['dots, stars and arrows', '.*>'],
    ['spaces', ' '],
    ['the largest characters', '🚀'],
    ['wide spaces', '\u3000'],
    ['percents', '%'],
  ])('the longest names of %s fit into a subject', async (_what, text) => {
    const of = (chars: number): string => Array.from(text.repeat(chars)).slice(0, chars).join('');
    const event = publishedEvent({
      aggregateType: of(128),
      aggregateId: of(200),
      type: of(128),
    });
    expect(await publisher.publish(event, { signal })).toEqual({ outcome: 'published' });
  });

  test.each([
    ['order', 'a.b', 'x', 'order', 'a', 'b.x'],
    ['order', '%2E', 'x', 'order', '.', 'x'],
    ['order', '1', '.x', 'order', '1', '%.x'],
    ['order', '1', 'a..b', 'order', '1', 'a.%.b'],
  ])('subjects of %s %s %s and %s %s %s differ', (type, id, event, type2, id2, event2) => {
    const one = natsSubject('e', { aggregateType: type, aggregateId: id, type: event });
    expect(one).not.toBe(
      natsSubject('e', { aggregateType: type2, aggregateId: id2, type: event2 }),
    );
    expect(one).not.toMatch(/\.\.|\.$|[\s*>]/);
  });

  test('a missing stream is an error that names the remedy, and stays one of the receiver', async () => {
    const outcome = await publisherOf(broker, 'nowhere').publish(publishedEvent(), { signal });
    expect(outcome).toMatchObject({ outcome: 'failed', away: true });
    expect(errorOf(outcome)).toEqual({
      code: 'nats_no_stream',
      message: expect.stringContaining('nats stream add --subjects="nowhere.>"') as string,
    });
  });

  test('an event that is larger than the server takes is quarantined, with the setting by name', async () => {
    const json = JSON.stringify('x'.repeat(100_001));
    const outcome = await publisher.publish(publishedEvent({ payloadJson: json }), { signal });
    expect(outcome).toMatchObject({ outcome: 'rejected', error: { code: 'nats_too_large' } });
    expect(errorOf(outcome).message).toContain('max_payload');
  });

  test("a message that the stream's own rules refuse says so", async () => {
    await manager.streams.add({ name: 'SMALL', subjects: ['small.>'], max_msg_size: 100 });
    const small = publisherOf(broker, 'small');
    const outcome = await small.publish(publishedEvent(), { signal });
    expect(outcome).toMatchObject({ outcome: 'rejected', error: { code: 'nats_10054' } });
    await manager.streams.add({
      name: 'FULL',
      subjects: ['full.>'],
      max_msgs: 1,
      discard: 'new' as never,
    });
    const full = publisherOf(broker, 'full');
    expect(await full.publish(publishedEvent(), { signal })).toEqual({ outcome: 'published' });
    const refused = await full.publish(publishedEvent(), { signal });
    expect(refused).toMatchObject({ outcome: 'failed', error: { code: 'nats_10077' } });
    await Promise.all([small.close?.(), full.close?.()]);
  });
});

withBroker('a broker that goes and comes back', () => {
  test('S4.3 stopped: events fail as the receiver being away; restarted: they are published, on a new connection', async () => {
    const broker = await startBroker();
    await (await broker.manage()).streams.add({ name: STREAM, subjects: ['events.>'] });
    let connections = 0;
    const publisher = createNatsPublisher({
      connect: () => {
        connections += 1;
        return broker.connect();
      },
      prefix: 'events',
      source: '/orders',
    });
    const [first, second] = [publishedEvent(), publishedEvent({ version: 2 })];
    expect(await publisher.publish(first, { signal })).toEqual({ outcome: 'published' });
    await broker.server.kill();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const outcome = await publisher.publish(second, { signal });
      expect(outcome).toMatchObject({ outcome: 'failed', away: true });
      expect(errorOf(outcome).code).toBe('nats_unreachable');
    }
    await broker.server.restart();
    expect(await publisher.publish(second, { signal })).toEqual({ outcome: 'published' });
    const messages = await stored(await broker.manage(), STREAM);
    expect(messages.map(({ headers }) => headers['ce-id'])).toEqual([first.id, second.id]);
    const before = connections;
    await publisher.publish(publishedEvent(), { signal });
    expect(connections).toBe(before);
    await publisher.close?.();
    await publisher.close?.();
    expect(await publisher.publish(publishedEvent(), { signal })).toEqual({ outcome: 'published' });
    expect(connections).toBe(before + 1);
    await publisher.close?.();
    await broker.close();
  });

  test('wrong credentials and missing rights are named', async () => {
    const broker = await startBroker([
      'authorization { users: [ { user: "shop", password: "right", permissions: { publish: "other.>", subscribe: "_INBOX.>" } } ] }',
    ]);
    const { connect } = await import('@nats-io/transport-node');
    const as = (pass: string): Publisher =>
      createNatsPublisher({
        connect: () =>
          connect({ servers: broker.server.address, user: 'shop', pass, reconnect: false }),
        prefix: 'events',
        source: '/orders',
      });
    for (const pass of ['wrong', 'right']) {
      const publisher = as(pass);
      const outcome = await publisher.publish(publishedEvent(), { signal });
      expect(errorOf(outcome).code).toBe('nats_not_permitted');
      expect(JSON.stringify(outcome)).not.toContain(pass);
      await publisher.close?.();
    }
    await broker.close();
  });
});

function publisherOf(broker: Broker, prefix = 'events'): Publisher {
  return createNatsPublisher({ connect: () => broker.connect(), prefix, source: '/orders' });
}

function errorOf(outcome: PublishOutcome): { readonly code: string; readonly message: string } {
  return outcome.outcome === 'published' ? { code: 'none', message: '' } : outcome.error;
}
