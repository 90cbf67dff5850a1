import { credsAuthenticator, wsconnect, type NatsConnection } from '@nats-io/nats-core';
import type { AwsTarget, NatsTarget } from '../../shared/broker-settings.ts';
import type { Config } from '../../shared/config.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { NATS_TIMEOUT_MS } from '../../shared/limits.ts';
import type { Clock, Outbound } from '../../shared/ports.ts';
import { createHttpPublisher } from '../../shared/publish/http.ts';
import type { Publisher } from '../../shared/publish/publisher.ts';
import { createNatsPublisher } from './nats.ts';

export interface PublisherPorts {
  readonly clock: Clock;
  readonly outbound: Pick<Outbound, 'fetch'>;
  /** Where the platform has the SDK and credentials of AWS. */
  readonly awsPublisher?: ((target: AwsTarget) => Publisher) | undefined;
}

/**
 * The publisher that the settings name; undefined when they name none, and events then wait in the outbox.
 *
 * @throws {LeaseholdError} `config_invalid` when the platform cannot publish there
 */
export function configuredPublisher(
  { outbox: { http, broker } }: Pick<Config, 'outbox'>,
  ports: PublisherPorts,
): Publisher | undefined {
  if (http !== undefined) return createHttpPublisher({ ...http, ...ports });
  if (broker === undefined) return undefined;
  if (broker.kind === 'cdc') return MARKS_ALONE;
  if (broker.kind === 'nats') {
    return createNatsPublisher({ ...broker, connect: () => overWebSocket(broker) });
  }
  if (ports.awsPublisher === undefined) {
    const path = broker.kind === 'sns' ? 'OUTBOX_SNS_TOPIC_ARN' : 'OUTBOX_EVENTBRIDGE_BUS';
    throw new LeaseholdError('config_invalid', 'The settings are not valid.', {
      problems: [{ path, message: 'is for AWS Lambda alone' }],
    });
  }
  return ports.awsPublisher(broker);
}

/** The log of the database has every event that the relay sees. */
const MARKS_ALONE: Publisher = { publish: () => Promise.resolve({ outcome: 'published' }) };

function overWebSocket({ url, token, credentials }: NatsTarget): Promise<NatsConnection> {
  return wsconnect({
    servers: url.href,
    reconnect: false,
    timeout: NATS_TIMEOUT_MS,
    ...(token === undefined ? {} : { token: token.reveal() }),
    ...(credentials === undefined
      ? {}
      : { authenticator: credsAuthenticator(new TextEncoder().encode(credentials.reveal())) }),
  });
}
