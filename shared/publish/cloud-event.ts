import type { PublishedEvent } from '../published-event.ts';

/** The attributes of an event in CloudEvents 1.0, by name; texts and 32-bit integers, as the standard has it. */
export type CloudEventAttributes = Readonly<Record<string, string | number>>;

/** What an extension attribute may be called: the standard's letters, and its advice on length. */
const EXTENSION_NAME = /^[a-z0-9]{1,20}$/;
/** Names that have a meaning of their own. */
const RESERVED = new Set([
  'aggregateid',
  'aggregatetype',
  'aggregateversion',
  'data',
  'datacontenttype',
  'dataschema',
  'id',
  'partitionkey',
  'schemaversion',
  'source',
  'specversion',
  'subject',
  'time',
  'type',
]);

/**
 * An event as CloudEvents attributes, without its data. The version of the aggregate is text, since the standard's integers
 * end at 32 bits. Headers of the event whose names the standard allows become extension attributes, `traceparent` and
 * `tracestate` (its extension for tracing) among them.
 *
 * @param source the `source` of every event of this outbox, a URI or a relative one; with `id` it names the event worldwide
 * @example cloudEventAttributes(event, '/orders') // { specversion: '1.0', id: '…', type: 'order.placed', … }
 */
export function cloudEventAttributes(event: PublishedEvent, source: string): CloudEventAttributes {
  const extensions = Object.entries(event.headers).filter(
    (header): header is [string, string] =>
      EXTENSION_NAME.test(header[0]) && !RESERVED.has(header[0]) && isText(header[1]),
  );
  return {
    ...Object.fromEntries(extensions),
    specversion: '1.0',
    id: event.id,
    source,
    type: event.type,
    subject: subjectOf(event),
    time: event.occurredAt,
    ...(event.payloadJson === undefined ? {} : { datacontenttype: 'application/json' }),
    aggregatetype: event.aggregateType,
    aggregateid: event.aggregateId,
    aggregateversion: String(event.version),
    schemaversion: event.schemaVersion,
    partitionkey: subjectOf(event),
  };
}

/** The aggregate as one text. A type with a slash in it is as good: consumers take the parts from their own attributes. */
export function subjectOf(event: Pick<PublishedEvent, 'aggregateType' | 'aggregateId'>): string {
  return `${event.aggregateType}/${event.aggregateId}`;
}

/** The standard knows no empty texts, and no control characters in them. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !/\p{Cc}/u.test(value);
}
