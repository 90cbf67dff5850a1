import { afterAll, beforeAll, expect, test } from 'vitest';
import { awsPublisher } from '../../functions/publish/aws-publisher.ts';
import type { AwsTarget } from '../../shared/broker-settings.ts';
import { CLIENT_SETTINGS, startAwsService, type AwsService } from './support/aws-service.ts';
import { publishedEvent } from './support/published-event.ts';

let service: AwsService;
beforeAll(async () => {
  service = await startAwsService({ status: 500, body: '' });
});
afterAll(() => service.close());

test.each<[AwsTarget, string]>([
  [{ kind: 'eventbridge', bus: 'orders', source: 'shop.orders' }, '"EventBusName":"orders"'],
  [
    { kind: 'sns', topicArn: 'arn:aws:sns:eu-central-1:123456789012:orders', source: '/orders' },
    'Action=Publish',
  ],
])('%j is sent to once a try: the relay is who tries again', async (target, sent) => {
  const { maxAttempts: _none, ...settings } = CLIENT_SETTINGS;
  const publisher = awsPublisher(target, { ...settings, endpoint: service.endpoint });
  const before = service.requests.length;
  const { signal } = new AbortController();
  expect(await publisher.publish(publishedEvent(), { signal })).toMatchObject({
    outcome: 'failed',
  });
  expect(service.requests).toHaveLength(before + 1);
  expect(service.requests.at(-1)?.body).toContain(sent);
});
