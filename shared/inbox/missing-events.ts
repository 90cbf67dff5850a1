import type { JsonObject, JsonValue } from '../json-value.ts';
import type { Transaction } from '../transaction/statement.ts';
import { aggregateEventsIn, type AggregateEvent } from './aggregate-events.ts';
import type { Gap, MissingEvent } from './process-in-order.ts';
import type { OrderedEvent } from './receipt.ts';

const AT_ONCE = 100;

/** `missing` of `processInOrder`. */
export type AskForMissing<Event extends OrderedEvent> = (
  gap: Gap,
) => Promise<readonly MissingEvent<Event>[]>;

/**
 * How a consumer in the producer's database asks for missing events. An event whose payload retention has taken cannot be
 * applied any more, nor can those behind it.
 *
 * @param connection for single statements, each a transaction of its own
 * @param toEvent makes what the consumer applies of an event of the outbox
 */
export function missingFromOutbox<Event extends OrderedEvent>(
  connection: Transaction,
  toEvent: (event: AggregateEvent) => Event,
): AskForMissing<Event> {
  return async (gap) => {
    const { aggregateType, aggregateId, from: first } = gap;
    const input = { aggregateType, aggregateId, afterVersion: first - 1, limit: limitOf(gap) };
    return applicable(await aggregateEventsIn(connection, input), toEvent);
  };
}

/** What is called of `client.outbox` of `createClient`. */
export interface AggregateEventsCall {
  aggregateEvents(
    aggregateType: string,
    aggregateId: string,
    query: { readonly after_version: number; readonly limit: number },
  ): Promise<{ readonly events: readonly ListedEvent[] }>;
}

/** An event as the API lists it. */
export interface ListedEvent {
  readonly id: string;
  readonly aggregate_type: string;
  readonly aggregate_id: string;
  readonly version: number;
  readonly type: string;
  readonly schema_version: number;
  readonly has_payload: boolean;
  readonly payload: JsonValue;
  readonly headers: JsonObject;
  readonly occurred_at: string;
  readonly created_at: string;
  readonly payload_dropped: boolean;
  readonly state: string;
}

/**
 * The same for a consumer with a database of its own, over the producer's API.
 *
 * @param outbox `client.outbox`, with a token of scope `read`
 * @example missingOverHttp(client.outbox, (event) => event)
 */
export function missingOverHttp<Event extends OrderedEvent>(
  outbox: AggregateEventsCall,
  toEvent: (event: AggregateEvent) => Event,
): AskForMissing<Event> {
  return async (gap) => {
    const { events } = await outbox.aggregateEvents(gap.aggregateType, gap.aggregateId, {
      after_version: gap.from - 1,
      limit: limitOf(gap),
    });
    return applicable(events.map(ofListed), toEvent);
  };
}

function limitOf({ from, before }: Gap): number {
  return Math.min(before - from, AT_ONCE);
}

function applicable<Event extends OrderedEvent>(
  events: readonly AggregateEvent[],
  toEvent: (event: AggregateEvent) => Event,
): MissingEvent<Event>[] {
  const dropped = events.findIndex(
    ({ payloadDropped, state }) => payloadDropped && state !== 'skipped',
  );
  return events
    .slice(0, dropped === -1 ? events.length : dropped)
    .map((event) => (event.state === 'skipped' ? { skipped: event } : { event: toEvent(event) }));
}

function ofListed(listed: ListedEvent): AggregateEvent {
  return {
    id: listed.id,
    aggregateType: listed.aggregate_type,
    aggregateId: listed.aggregate_id,
    version: listed.version,
    type: listed.type,
    schemaVersion: listed.schema_version,
    payload: listed.has_payload ? listed.payload : undefined,
    payloadJson: listed.has_payload ? JSON.stringify(listed.payload) : undefined,
    headers: listed.headers,
    occurredAt: listed.occurred_at,
    createdAt: listed.created_at,
    state: listed.state === 'skipped' || listed.state === 'pending' ? listed.state : 'published',
    payloadDropped: listed.payload_dropped,
  };
}
