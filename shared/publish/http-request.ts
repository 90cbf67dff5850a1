import { signWebhookWithAll } from '../webhook.ts';
import { cloudEventHeaders } from './cloud-event-headers.ts';
import { cloudEventJson } from './cloud-event-json.ts';
import { cloudEventAttributes } from './cloud-event.ts';
import type { CloudEventAttributes } from './cloud-event.ts';
import type { PublishedEvent } from '../published-event.ts';

/**
 * How an event is written into a request, both by the HTTP binding of CloudEvents 1.0: `structured`, everything in the
 * body, so that the signature covers all of it; `binary`, the payload as the body and the rest in `ce-` headers, which no
 * signature covers.
 */
export type HttpFormat = 'structured' | 'binary';

export interface EventRequestInput {
  readonly url: URL;
  readonly event: PublishedEvent;
  readonly format: HttpFormat;
  readonly source: string;
  /** `whsec_…`, one or two; both sign while keys are changed. */
  readonly keys: readonly string[];
  /** Milliseconds since the Unix epoch: each try has a timestamp of its own. */
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/**
 * One try to send an event. The body's text is made once: its bytes are what is signed and what is sent. `webhook-id` is
 * the event's id on every try, so that a receiver that remembers ids sees a repeat as one.
 */
export function eventRequest(input: EventRequestInput): Request {
  const { event, keys, nowMs } = input;
  const attributes = cloudEventAttributes(event, input.source);
  const { headers, body } =
    input.format === 'structured'
      ? structured(attributes, event.payloadJson)
      : binary(attributes, event.payloadJson);
  return new Request(input.url, {
    method: 'POST',
    headers: {
      ...headers,
      'user-agent': 'Leasehold',
      ...signWebhookWithAll(keys, { id: event.id, body, nowMs }),
      'idempotency-key': event.id,
      'leasehold-attempt': String(event.attempt),
      ...traceHeaders(event),
    },
    body: new TextEncoder().encode(body),
    redirect: 'manual',
    signal: input.signal,
  });
}

interface Content {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function structured(attributes: CloudEventAttributes, payload: string | undefined): Content {
  return {
    headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' },
    body: cloudEventJson(attributes, payload),
  };
}

function binary(attributes: CloudEventAttributes, payload: string | undefined): Content {
  return { headers: cloudEventHeaders(attributes), body: payload ?? '' };
}

function traceHeaders({ headers }: PublishedEvent): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of ['traceparent', 'tracestate']) {
    const value = headers[name];
    if (typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)) found[name] = value;
  }
  return found;
}
