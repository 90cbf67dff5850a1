import { EventBridgeClient, type EventBridgeClientConfig } from '@aws-sdk/client-eventbridge';
import { SNSClient } from '@aws-sdk/client-sns';
import type { AwsTarget } from '../../shared/broker-settings.ts';
import type { Publisher } from '../../shared/publish/publisher.ts';
import { createEventBridgePublisher } from './eventbridge.ts';
import { createSnsPublisher } from './sns.ts';

/** Settings that both clients know; region and credentials are those of the function when they are left out. */
export type AwsClientSettings = Pick<
  EventBridgeClientConfig,
  'region' | 'credentials' | 'endpoint' | 'maxAttempts'
>;

/**
 * The publisher to the AWS service that the settings name, for the Lambda entry. The relay tries events again itself, so the
 * client does not.
 */
export function awsPublisher(target: AwsTarget, settings: AwsClientSettings = {}): Publisher {
  const once = { maxAttempts: 1, ...settings };
  return target.kind === 'eventbridge'
    ? createEventBridgePublisher({ ...target, client: new EventBridgeClient(once) })
    : createSnsPublisher({ ...target, client: new SNSClient(once) });
}
