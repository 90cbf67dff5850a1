import type { Transaction } from '../transaction/statement.ts';
import { aggregateEventsIn, type AggregateEvent } from './aggregate-events.ts';
import type { Gap, MissingEvent } from './process-in-order.ts';
import type { OrderedEvent } from './receipt.ts';

const AT_ONCE = 100;

/**
 * How a consumer in the same database asks for missing events: `missing` of `processInOrder`. An event whose payload
 * retention has taken cannot be applied any more, nor can those behind it.
 *
 * @param connection for single statements, each a transaction of its own
 * @param toEvent makes what the consumer applies of an event of the outbox
 */
export function missingFromOutbox<Event extends OrderedEvent>(
  connection: Transaction,
  toEvent: (event: AggregateEvent) => Event,
): (gap: Gap) => Promise<MissingEvent<Event>[]> {
  return async ({ aggregateType, aggregateId, from, before }) => {
    const events = await aggregateEventsIn(connection, {
      aggregateType,
      aggregateId,
      afterVersion: from - 1,
      limit: Math.min(before - from, AT_ONCE),
    });
    const dropped = events.findIndex(
      ({ payloadDropped, state }) => payloadDropped && state !== 'skipped',
    );
    return events
      .slice(0, dropped === -1 ? events.length : dropped)
      .map((event) => (event.state === 'skipped' ? { skipped: event } : { event: toEvent(event) }));
  };
}
