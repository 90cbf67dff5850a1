/** The publisher to SNS at the wire: what the service is sent, and what its answers make of an event. */
import { SNSClient } from '@aws-sdk/client-sns';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSnsPublisher } from '../../functions/publish/sns.ts';
import type { Publisher } from '../../shared/publish/publisher.ts';
import {
  CLIENT_SETTINGS,
  startAwsService,
  type AwsService,
  type WireAnswer,
} from './support/aws-service.ts';
import { publishedEvent } from './support/published-event.ts';

const TAKEN = xml(
  200,
  '<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>m-1</MessageId></PublishResult></PublishResponse>',
);
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:orders';
const { signal } = new AbortController();

let service: AwsService;
let standard: Publisher;
let fifo: Publisher;
beforeAll(async () => {
  service = await startAwsService(TAKEN);
  const client = new SNSClient({ ...CLIENT_SETTINGS, endpoint: service.endpoint });
  standard = createSnsPublisher({ client, topicArn: TOPIC, source: '/orders' });
  fifo = createSnsPublisher({ client, topicArn: `${TOPIC}.fifo`, source: '/orders' });
});
beforeEach(() => service.answer(TAKEN));
afterAll(() => service.close());

function xml(status: number, body: string): WireAnswer {
  return { status, headers: { 'content-type': 'text/xml' }, body };
}

function refused(status: number, code: string): WireAnswer {
  return xml(
    status,
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${TOPIC}</Message></Error></ErrorResponse>`,
  );
}

function sent(): URLSearchParams {
  return new URLSearchParams(service.requests.at(-1)?.body);
}

describe('publishing to SNS', () => {
  test('an event is one signed message, the CloudEvent with the digits it had', async () => {
    const event = publishedEvent({ version: 7, payloadJson: '{"exact": 9007199254740993}' });
    expect(await standard.publish(event, { signal })).toEqual({ outcome: 'published' });
    const [request] = service.requests.slice(-1);
    expect(request?.headers['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/eu-central-1\/sns\/aws4_request, /,
    );
    const form = sent();
    expect(Object.fromEntries(form)).toMatchObject({
      Action: 'Publish',
      TopicArn: TOPIC,
      'MessageAttributes.entry.1.Name': 'type',
      'MessageAttributes.entry.1.Value.StringValue': 'order.placed',
      'MessageAttributes.entry.2.Name': 'aggregatetype',
      'MessageAttributes.entry.2.Value.StringValue': 'order',
    });
    expect(form.get('Message')).toContain('"data":{"exact": 9007199254740993}');
    expect(JSON.parse(form.get('Message') ?? '')).toMatchObject({
      id: event.id,
      source: '/orders',
      aggregateid: '42',
      aggregateversion: '7',
    });
    expect(form.has('MessageGroupId')).toBe(false);
  });

  test('S4.3 on a FIFO topic the group is the aggregate and the deduplication id the event id, on every try', async () => {
    const event = publishedEvent();
    for (const attempt of [1, 2]) {
      await fifo.publish({ ...event, attempt }, { signal });
      expect(sent().get('MessageGroupId')).toBe('order/42');
      expect(sent().get('MessageDeduplicationId')).toBe(event.id);
    }
  });

  test('an aggregate that cannot name a group has a hash for one, always the same and its own', async () => {
    const groups: (string | null)[] = [];
    for (const aggregateId of ['ü', 'ü', 'a b', 'x'.repeat(200), 'x'.repeat(199)]) {
      await fifo.publish(publishedEvent({ aggregateId }), { signal });
      groups.push(sent().get('MessageGroupId'));
    }
    expect(groups.every((group) => /^[0-9a-f]{64}$/.test(group ?? ''))).toBe(true);
    expect(groups[0]).toBe(groups[1]);
    expect(new Set(groups).size).toBe(4);
  });

  test.each([
    [
      404,
      'NotFound',
      { outcome: 'failed', error: { code: 'sns_not_found_exception' }, away: true },
    ],
    [403, 'AuthorizationError', { outcome: 'failed', away: true }],
    [400, 'InvalidParameter', { outcome: 'rejected' }],
    [400, 'Throttled', { outcome: 'failed' }],
    [500, 'InternalError', { outcome: 'failed' }],
  ])('a call that is answered %i %s', async (status, code, expected) => {
    service.answer(refused(status, code));
    const outcome = await standard.publish(publishedEvent(), { signal });
    expect(outcome).toMatchObject(expected);
    expect('away' in outcome).toBe('away' in expected);
    expect(JSON.stringify(outcome)).not.toContain('123456789012');
  });

  test('a service that is down is away', async () => {
    const down = await startAwsService(TAKEN);
    const client = new SNSClient({ ...CLIENT_SETTINGS, endpoint: down.endpoint });
    await down.close();
    const publisher = createSnsPublisher({ client, topicArn: TOPIC, source: '/orders' });
    expect(await publisher.publish(publishedEvent(), { signal })).toMatchObject({
      outcome: 'failed',
      error: { code: 'sns_unreachable' },
      away: true,
    });
  });
});
