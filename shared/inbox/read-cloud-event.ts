import { parseTree } from 'jsonc-parser';
import { exceedsDepth } from '../json-depth.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json-value.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import type { DeliveredEvent, OrderedEvent } from './receipt.ts';

/** An event as it came: all of it can be kept as JSON. */
export interface ReceivedEvent extends DeliveredEvent {
  readonly type: string;
  /** Whose outbox it is from, by its own word. */
  readonly source: string;
  readonly schemaVersion: number | undefined;
  /** Undefined when the event has no body; `null` is the JSON value. */
  readonly payload?: JsonValue;
  /** The payload as JSON text, with the digits that JavaScript would round. */
  readonly payloadJson?: string;
  /** ISO 8601. */
  readonly occurredAt: string | undefined;
  /** W3C trace context of the producer. */
  readonly traceparent: string | undefined;
}

export type ReadOutcome =
  | { readonly outcome: 'event'; readonly event: ReceivedEvent }
  | { readonly outcome: 'invalid'; readonly message: string };

export interface CloudEventMessage {
  /** The value of a header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly body: string;
}

/**
 * Reads an event in CloudEvents 1.0 with a JSON payload, as the publishers of the outbox send it and others do: structured,
 * or binary with `ce-` headers (HTTP and NATS alike). Aggregate and version are there when the sender gave them.
 * Never throws.
 *
 * @example readCloudEvent({ header: (name) => request.headers.get(name) ?? undefined, body: await request.text() })
 */
export function readCloudEvent(message: CloudEventMessage): ReadOutcome {
  const contentType = message.header('content-type') ?? '';
  const read = /^application\/cloudevents\+json\b/i.test(contentType)
    ? structured(message.body)
    : binary(message);
  return typeof read === 'string' ? invalid(read) : eventOf(read);
}

/** Whether an event has a place in the order of an aggregate, as every event of an outbox does. */
export function isOrdered<Event extends DeliveredEvent>(
  event: Event,
): event is Event & OrderedEvent {
  const { aggregateType, aggregateId, version } = event;
  return aggregateType !== undefined && aggregateId !== undefined && version !== undefined;
}

interface RawEvent {
  readonly attribute: (name: string) => string | undefined;
  readonly payloadJson: string | undefined;
}

function structured(body: string): RawEvent | string {
  if (exceedsDepth(body, MAX_JSON_DEPTH)) return 'The body is nested too deep.';
  const envelope = parsed(body);
  if (envelope === undefined || !isJsonObject(envelope)) return 'The body is not a JSON object.';
  if ('data_base64' in envelope) return 'The data is not JSON.';
  return {
    attribute: (name) => {
      const value = Object.hasOwn(envelope, name) ? envelope[name] : undefined;
      return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
    },
    payloadJson: 'data' in envelope ? textOfData(body, envelope) : undefined,
  };
}

/** As it stands in the body: `JSON.parse` has rounded it. */
function textOfData(body: string, envelope: JsonObject): string {
  const members = parseTree(body)?.children ?? [];
  const data = members.findLast(({ children }) => children?.[0]?.value === 'data')?.children?.[1];
  return data === undefined
    ? JSON.stringify(envelope['data'])
    : body.slice(data.offset, data.offset + data.length);
}

function binary({ header, body }: CloudEventMessage): RawEvent | string {
  if (body !== '' && exceedsDepth(body, MAX_JSON_DEPTH)) return 'The body is nested too deep.';
  if (body !== '' && parsed(body) === undefined) return 'The body is not JSON.';
  return {
    attribute: (name) => decoded(header(`ce-${name}`)),
    payloadJson: body === '' ? undefined : body,
  };
}

function eventOf({ attribute, payloadJson }: RawEvent): ReadOutcome {
  if (attribute('specversion') !== '1.0') return invalid('specversion: must be 1.0');
  const [id, type, source] = [attribute('id'), attribute('type'), attribute('source')];
  if (!isName(id)) return invalid('id: give 1 to 200 characters, no control characters');
  if (!isName(type)) return invalid('type: give 1 to 200 characters, no control characters');
  if (source === undefined || source === '') return invalid('source: is missing');
  const version = wholeNumber(attribute('aggregateversion'));
  if (version === null) return invalid('aggregateversion: must be an integer from 1');
  const schemaVersion = wholeNumber(attribute('schemaversion'));
  if (schemaVersion === null) return invalid('schemaversion: must be an integer from 1');
  return {
    outcome: 'event',
    event: {
      id,
      type,
      source,
      aggregateType: attribute('aggregatetype'),
      aggregateId: attribute('aggregateid'),
      version,
      schemaVersion,
      occurredAt: attribute('time'),
      traceparent: attribute('traceparent'),
      ...(payloadJson === undefined
        ? {}
        : { payloadJson, payload: JSON.parse(payloadJson) as JsonValue }),
    },
  };
}

function invalid(message: string): ReadOutcome {
  return { outcome: 'invalid', message };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Headers carry percent-encoded UTF-8. */
function decoded(value: string | undefined): string | undefined {
  try {
    return value === undefined ? undefined : decodeURIComponent(value);
  } catch {
    return value; // a percent that encodes nothing stands for itself
  }
}

function isName(text: string | undefined): text is string {
  return text !== undefined && /^\P{Cc}{1,200}$/u.test(text);
}

/** Undefined when there is none, null when it is not one. */
function wholeNumber(text: string | undefined): number | undefined | null {
  if (text === undefined) return undefined;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  return value >= 1 && Number.isSafeInteger(value) ? value : null;
}
