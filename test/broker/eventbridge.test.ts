/** The publisher to EventBridge at the wire: what the service is sent, and what its answers make of an event. */
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEventBridgePublisher } from '../../functions/publish/eventbridge.ts';
import type { Publisher } from '../../shared/publish/publisher.ts';
import { CLIENT_SETTINGS, startAwsService, type AwsService } from './support/aws-service.ts';
import { publishedEvent } from './support/published-event.ts';

const TAKEN = answer(200, { FailedEntryCount: 0, Entries: [{ EventId: 'e-1' }] });
const { signal } = new AbortController();

let service: AwsService;
let publisher: Publisher;
beforeAll(async () => {
  service = await startAwsService(TAKEN);
  const client = new EventBridgeClient({ ...CLIENT_SETTINGS, endpoint: service.endpoint });
  publisher = createEventBridgePublisher({ client, bus: 'orders', source: 'shop.orders' });
});
beforeEach(() => service.answer(TAKEN));
afterAll(() => service.close());

function answer(status: number, body: unknown): { status: number; body: string } {
  return { status, body: JSON.stringify(body) };
}

describe('publishing to EventBridge', () => {
  test('an event is one signed PutEvents entry, its detail the CloudEvent with the digits it had', async () => {
    const event = publishedEvent({
      version: 7,
      payloadJson: '{"exact": 9007199254740993}',
      headers: { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
    });
    expect(await publisher.publish(event, { signal })).toEqual({ outcome: 'published' });
    const [request] = service.requests.slice(-1);
    expect(request?.method).toBe('POST');
    expect(request?.headers).toMatchObject({
      'x-amz-target': 'AWSEvents.PutEvents',
      'content-type': 'application/x-amz-json-1.1',
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/eu-central-1\/events\/aws4_request, SignedHeaders=.+, Signature=[0-9a-f]{64}$/,
      ) as string,
    });
    const { Entries: entries } = JSON.parse(request?.body ?? '') as {
      Entries: Record<string, unknown>[];
    };
    expect(entries).toHaveLength(1);
    const [entry] = entries;
    expect(entry).toMatchObject({
      EventBusName: 'orders',
      Source: 'shop.orders',
      DetailType: 'order.placed',
      Time: Date.parse(event.occurredAt) / 1000,
    });
    expect(entry?.['Detail']).toContain('"data":{"exact": 9007199254740993}');
    expect(JSON.parse(String(entry?.['Detail']))).toMatchObject({
      specversion: '1.0',
      id: event.id,
      source: 'shop.orders',
      type: 'order.placed',
      subject: 'order/42',
      aggregatetype: 'order',
      aggregateid: '42',
      aggregateversion: '7',
      traceparent: event.headers['traceparent'],
    });
  });

  test('case I3 an event without a body has no data, one of JSON null has null', async () => {
    const details: unknown[] = [];
    for (const payloadJson of [undefined, 'null']) {
      await publisher.publish(publishedEvent({ payload: undefined, payloadJson }), { signal });
      const body = service.requests.at(-1)?.body ?? '';
      const { Entries: entries } = JSON.parse(body) as { Entries: { Detail: string }[] };
      details.push(JSON.parse(entries[0]?.Detail ?? ''));
    }
    expect(details[0]).not.toHaveProperty('data');
    expect(details[1]).toHaveProperty('data', null);
  });

  test.each([
    ['InternalFailure', { outcome: 'failed', code: 'eventbridge_internal_failure' }],
    ['ThrottlingException', { outcome: 'failed', code: 'eventbridge_throttling_exception' }],
    ['MalformedDetail', { outcome: 'rejected', code: 'eventbridge_malformed_detail' }],
    ['An odd/word', { outcome: 'failed', code: 'eventbridge_unknown_error' }],
  ])(
    'an entry that was refused with %s was not published, though the call succeeded',
    async (word, expected) => {
      service.answer(
        answer(200, {
          FailedEntryCount: 1,
          Entries: [{ ErrorCode: word, ErrorMessage: 'secret' }],
        }),
      );
      const outcome = await publisher.publish(publishedEvent(), { signal });
      expect(outcome).toMatchObject({ outcome: expected.outcome, error: { code: expected.code } });
      expect(JSON.stringify(outcome)).not.toContain('secret');
    },
  );

  test('an answer without entries was not published', async () => {
    service.answer(answer(200, {}));
    const outcome = await publisher.publish(publishedEvent(), { signal });
    expect(outcome).toMatchObject({ outcome: 'failed', error: { code: 'eventbridge_no_answer' } });
  });

  test.each([
    [400, 'ResourceNotFoundException', { outcome: 'failed', away: true }],
    [400, 'AccessDeniedException', { outcome: 'failed', away: true }],
    [400, 'ThrottlingException', { outcome: 'failed' }],
    [413, 'ValidationException', { outcome: 'rejected' }],
    [500, 'InternalException', { outcome: 'failed' }],
  ])('a call that is answered %i %s', async (status, name, expected) => {
    service.answer(answer(status, { __type: name, message: 'arn:aws:events:eu:123456789012' }));
    const outcome = await publisher.publish(publishedEvent(), { signal });
    expect(outcome).toMatchObject(expected);
    expect('away' in outcome).toBe('away' in expected);
    expect(JSON.stringify(outcome)).not.toContain('123456789012');
  });

  test('a missing bus names what to look at', async () => {
    service.answer(answer(400, { __type: 'ResourceNotFoundException' }));
    const outcome = await publisher.publish(publishedEvent(), { signal });
    expect(JSON.stringify(outcome)).toContain('check the name of the bus');
  });

  test('no answer ends with the signal of the relay', async () => {
    service.answer('hang');
    const outcome = await publisher.publish(publishedEvent(), { signal: AbortSignal.timeout(50) });
    expect(outcome).toMatchObject({ outcome: 'failed', away: true });
  });
});
