import { verifyWebhook, type SignatureFault } from '../webhook.ts';
import { readCloudEvent, type CloudEventMessage, type ReceivedEvent } from './read-cloud-event.ts';

export interface SignedEventInput extends CloudEventMessage {
  /** `whsec_…` keys of the one sender that this endpoint is for; a signature by any of them counts. */
  readonly keys: readonly string[];
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: number;
}

export type SignedEventOutcome =
  | { readonly outcome: 'event'; readonly event: ReceivedEvent }
  | {
      readonly outcome: 'refused';
      /** For the answer: 400, the message is at fault and no repeat can help; 401, so is its signature or its age. */
      readonly status: 400 | 401;
      readonly reason: SignatureFault | 'bad_id' | 'bad_event' | 'id_mismatch';
    };

/**
 * Takes an event from a signed HTTP request (Standard Webhooks): who sent it, when, and that nobody changed the body. The id
 * is the signed `webhook-id`, never one that is made up here: a message without one could not be told from its repeats.
 *
 * Give each sender an endpoint and keys of its own, and name it as the `sender` of the receipt. In binary mode the `ce-`
 * headers are not signed; where a proxy on the way is not to be trusted, let the sender use structured mode.
 *
 * @example
 * const received = receiveSignedEvent({ header, body, keys, nowMs: clock.now() });
 * if (received.outcome === 'refused') return new Response(received.reason, { status: received.status });
 * await processOnce({ consumer: 'inventory', sender: 'shop', event: received.event }, batch);
 */
export function receiveSignedEvent(input: SignedEventInput): SignedEventOutcome {
  const { header, body, keys, nowMs } = input;
  if (!isMessageId(header('webhook-id'))) return refused(400, 'bad_id');
  const verified = verifyWebhook(keys, { headers: header, body, nowMs });
  if (verified.outcome === 'refused') return refused(401, verified.reason);
  const read = readCloudEvent(input);
  if (read.outcome === 'invalid') return refused(400, 'bad_event');
  return read.event.id === verified.id
    ? { outcome: 'event', event: read.event }
    : refused(400, 'id_mismatch');
}

/** What Standard Webhooks allows: up to 128 characters here, without the dot that separates what is signed. */
function isMessageId(id: string | undefined): boolean {
  return id !== undefined && /^[!-\-/-~]{1,128}$/.test(id);
}

function refused(
  status: 400 | 401,
  reason: Extract<SignedEventOutcome, { outcome: 'refused' }>['reason'],
): SignedEventOutcome {
  return { outcome: 'refused', status, reason };
}
