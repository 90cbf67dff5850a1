import { jetstream, JetStreamApiError } from '@nats-io/jetstream';
import { errors, headers as natsHeaders, type NatsConnection } from '@nats-io/nats-core';
import { NATS_TIMEOUT_MS } from '../../shared/limits.ts';
import { cloudEventHeaders } from '../../shared/publish/cloud-event-headers.ts';
import { cloudEventAttributes } from '../../shared/publish/cloud-event.ts';
import type { PublishedEvent } from '../../shared/published-event.ts';
import type { PublishOutcome, Publisher } from '../../shared/publish/publisher.ts';
import { safeText } from '../../shared/safe-text.ts';
import { natsSubject } from './nats-subject.ts';

export interface NatsPublisherOptions {
  /**
   * Opens a connection: `connect` of `@nats-io/transport-node` over TCP, or `wsconnect` of `@nats-io/nats-core` over a
   * WebSocket, which Workers can open. Set `reconnect: false`: one that is lost is opened anew with the next event, while a
   * client that reconnects by itself sends in its own time what the relay has given up.
   */
  readonly connect: () => Promise<NatsConnection>;
  /** What every subject begins with, one or more tokens; the stream takes `<prefix>.>`. */
  readonly prefix: string;
  /** `source` of the CloudEvents: a URI, or a relative one such as `/orders`. */
  readonly source: string;
}

/**
 * Publishes to NATS JetStream, one message an event: the payload's own text as its data and the envelope in CloudEvents
 * headers (binary mode). `Nats-Msg-Id` is the event's id, so the stream drops repeats within its duplicate window, and it has
 * the event when it acknowledges it. The stream must be there, with subjects `<prefix>.>`: it is yours to make, for its
 * retention, replicas and window are yours to choose.
 *
 * @example
 * const publisher = createNatsPublisher({
 *   connect: () => connect({ servers: 'nats.example.com', reconnect: false }), prefix: 'events', source: '/orders',
 * });
 */
export function createNatsPublisher(options: NatsPublisherOptions): Publisher {
  let opened: Promise<NatsConnection> | undefined;
  const forget = (connection: typeof opened): void => {
    if (opened === connection) opened = undefined;
  };
  const open = (): Promise<NatsConnection> => {
    if (opened !== undefined) return opened;
    const opening = options.connect();
    opened = opening;
    opening.then(
      (connection) => void connection.closed().finally(() => forget(opening)),
      () => forget(opening),
    );
    return opening;
  };
  return {
    publish: async (event) => {
      try {
        await send(await open(), options, event);
        return { outcome: 'published' };
      } catch (error) {
        return outcomeOf(error, options.prefix);
      }
    },
    close: async () => {
      const connection = opened;
      opened = undefined;
      await connection?.then((one) => one.close()).catch(() => undefined);
    },
  };
}

async function send(
  connection: NatsConnection,
  { prefix, source }: NatsPublisherOptions,
  event: PublishedEvent,
): Promise<void> {
  const headers = natsHeaders();
  for (const [name, value] of Object.entries(
    cloudEventHeaders(cloudEventAttributes(event, source)),
  )) {
    headers.set(name, value);
  }
  await jetstream(connection).publish(natsSubject(prefix, event), event.payloadJson ?? '', {
    msgID: event.id,
    headers,
    timeout: NATS_TIMEOUT_MS,
  });
}

/** Error codes of JetStream that speak of the message itself: too large for the stream, or refused by its rules. */
const REJECTIONS = new Set([10054]);

function outcomeOf(error: unknown, prefix: string): PublishOutcome {
  if (isUnanswered(error)) {
    const message = `No stream takes subjects of "${prefix}.>": create one (nats stream add --subjects="${prefix}.>"), or enable JetStream on the server.`;
    return away('nats_no_stream', message);
  }
  if (error instanceof JetStreamApiError) {
    const code = `nats_${error.code}`;
    const message = `The stream refused the event: ${safeText(error.message, MAX_SAID_CHARS)}`;
    return REJECTIONS.has(error.code)
      ? { outcome: 'rejected', error: { code, message } }
      : { outcome: 'failed', error: { code, message } };
  }
  if (error instanceof errors.InvalidArgumentError && error.message.includes('max_payload')) {
    const message =
      "The event is larger than the server's max_payload: raise it there, then replay the event.";
    return { outcome: 'rejected', error: { code: 'nats_too_large', message } };
  }
  if (error instanceof errors.TimeoutError) {
    return away('nats_timeout', 'The stream did not acknowledge in time.');
  }
  if (isNotPermitted(error)) {
    const message = `The server does not permit it: check the credentials, and the permission to publish "${prefix}.>".`;
    return away('nats_not_permitted', message);
  }
  return away('nats_unreachable', 'The server could not be reached, or the connection broke.');
}

const MAX_SAID_CHARS = 200;

/** Nobody listens to the subject: no stream, or no JetStream. */
function isUnanswered(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof errors.RequestError && cause.isNoResponders();
}

function isNotPermitted(error: unknown): boolean {
  return (
    error instanceof errors.AuthorizationError ||
    error instanceof errors.UserAuthenticationExpiredError ||
    error instanceof errors.PermissionViolationError ||
    (error instanceof errors.RequestError && isNotPermitted(error.cause))
  );
}

function away(code: string, message: string): PublishOutcome {
  return { outcome: 'failed', error: { code, message }, away: true };
}
