import { PutEventsCommand, type EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { cloudEventJson } from '../../shared/publish/cloud-event-json.ts';
import { cloudEventAttributes } from '../../shared/publish/cloud-event.ts';
import type { Publisher } from '../../shared/publish/publisher.ts';
import { awsFailure, awsRefusal } from './aws-failure.ts';

export interface EventBridgePublisherOptions {
  readonly client: Pick<EventBridgeClient, 'send'>;
  /** Name or ARN of the bus. */
  readonly bus: string;
  /** `source` of the CloudEvents and `Source` of the entries; not `aws.…`, which is kept for services. */
  readonly source: string;
}

/**
 * Publishes to an EventBridge bus: `DetailType` is the event's type, `Detail` the event as CloudEvents JSON, so rules match
 * on `detail-type`, `detail.aggregatetype` and `detail.data`. EventBridge neither drops repeats nor keeps an order: consumers
 * need the inbox, with a policy where order matters.
 *
 * @example createEventBridgePublisher({ client: new EventBridgeClient({}), bus: 'orders', source: 'shop.orders' })
 */
export function createEventBridgePublisher(options: EventBridgePublisherOptions): Publisher {
  const { client, bus, source } = options;
  const remedy = 'check the name of the bus, the credentials and the right events:PutEvents.';
  return {
    publish: async (event, { signal }) => {
      const attributes = cloudEventAttributes(event, source);
      const command = new PutEventsCommand({
        Entries: [
          {
            EventBusName: bus,
            Source: source,
            DetailType: event.type,
            Detail: cloudEventJson(attributes, event.payloadJson),
            Time: new Date(event.occurredAt),
          },
        ],
      });
      try {
        // The call as a whole succeeds when the entry in it is refused.
        const { Entries: [entry] = [] } = await client.send(command, { abortSignal: signal });
        if (entry?.EventId !== undefined) return { outcome: 'published' };
        return awsRefusal('eventbridge', entry?.ErrorCode ?? 'NoAnswer', remedy);
      } catch (error) {
        return awsFailure('eventbridge', error, remedy);
      }
    },
  };
}
