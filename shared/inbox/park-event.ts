import type { JsonObject } from '../json-value.ts';
import { resultRows } from '../transaction/result-rows.ts';
import type { Transaction } from '../transaction/statement.ts';
import type { OrderedEvent, Receipt } from './receipt.ts';

/** Where a consumer stands with one aggregate. */
export interface ConsumedAggregate {
  readonly consumer: string;
  readonly sender?: string | undefined;
  readonly aggregateType: string;
  readonly aggregateId: string;
}

/**
 * Keeps an event that came before its predecessors. Once it is parked the delivery may be acknowledged.
 *
 * @param connection the statement is a transaction of its own, so any connection will do
 * @param receipt.event all of it, up to 4 MiB as JSON: `nextParkedIn` gives it back
 * @returns the first version that is missing before it; undefined when none is any more: then apply the event now
 */
export async function parkIn(
  connection: Transaction,
  { consumer, sender = '', event }: Receipt & { readonly event: OrderedEvent },
): Promise<number | undefined> {
  const answer = await connection.run({
    text: `select coalesce(leasehold.park_event($1::text, $2::text, $3::text, $4::text, $5::text::bigint, $6::text::jsonb, $7::text), 0) as missing_version`,
    values: [
      consumer,
      event.id,
      event.aggregateType,
      event.aggregateId,
      String(event.version),
      JSON.stringify(event),
      sender,
    ],
  });
  return resultRows(answer, ['missing_version'])[0]?.integer('missing_version') || undefined;
}

/**
 * The parked event that is next for its aggregate, as it was given to `parkIn`; undefined while its predecessor is missing.
 * Accepting it takes it out of the parking place.
 */
export async function nextParkedIn(
  connection: Transaction,
  { consumer, sender = '', aggregateType, aggregateId }: ConsumedAggregate,
): Promise<JsonObject | undefined> {
  const answer = await connection.run({
    text: `select event::text as event from leasehold.parked_event($1::text, $2::text, $3::text, $4::text)`,
    values: [consumer, aggregateType, aggregateId, sender],
  });
  const [row] = resultRows(answer, ['event']);
  return row === undefined ? undefined : (JSON.parse(row.text('event')) as JsonObject);
}
