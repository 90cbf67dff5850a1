import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns';
import { cloudEventJson } from '../../shared/publish/cloud-event-json.ts';
import { cloudEventAttributes, subjectOf } from '../../shared/publish/cloud-event.ts';
import type { Publisher } from '../../shared/publish/publisher.ts';
import { awsFailure } from './aws-failure.ts';

export interface SnsPublisherOptions {
  readonly client: Pick<SNSClient, 'send'>;
  /** One that ends in `.fifo` keeps the order of each aggregate and drops repeats within five minutes. */
  readonly topicArn: string;
  /** `source` of the CloudEvents. */
  readonly source: string;
}

/**
 * Publishes to an SNS topic: the message is the event as CloudEvents JSON; the attributes `type` and `aggregatetype` are for
 * filter policies. On a FIFO topic the message group is the aggregate and the deduplication id is the event's id.
 *
 * @example createSnsPublisher({ client: new SNSClient({}), topicArn: 'arn:aws:sns:…:orders.fifo', source: '/orders' })
 */
export function createSnsPublisher({ client, topicArn, source }: SnsPublisherOptions): Publisher {
  const remedy = 'check the ARN of the topic, the credentials and the right sns:Publish.';
  const fifo = topicArn.endsWith('.fifo');
  return {
    publish: async (event, { signal }) => {
      const attributes = cloudEventAttributes(event, source);
      const command = new PublishCommand({
        TopicArn: topicArn,
        Message: cloudEventJson(attributes, event.payloadJson),
        MessageAttributes: {
          type: { DataType: 'String', StringValue: event.type },
          aggregatetype: { DataType: 'String', StringValue: event.aggregateType },
        },
        ...(fifo
          ? {
              MessageGroupId: await messageGroup(subjectOf(event)),
              MessageDeduplicationId: event.id,
            }
          : {}),
      });
      try {
        await client.send(command, { abortSignal: signal });
        return { outcome: 'published' };
      } catch (error) {
        return awsFailure('sns', error, remedy);
      }
    },
  };
}

/** SNS takes up to 128 characters of printable ASCII; another aggregate is named by a hash, which has no slash in it. */
async function messageGroup(subject: string): Promise<string> {
  if (/^[!-~]{1,128}$/.test(subject)) return subject;
  const named = new TextEncoder().encode(subject.toWellFormed());
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', named));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
