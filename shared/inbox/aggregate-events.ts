import type { JsonObject, JsonValue } from '../json-value.ts';
import { resultRows } from '../transaction/result-rows.ts';
import type { Transaction } from '../transaction/statement.ts';
import type { OrderedEvent } from './receipt.ts';

/** An event as the outbox keeps it. */
export interface AggregateEvent extends OrderedEvent {
  readonly type: string;
  readonly schemaVersion: number;
  /** Undefined when the event has no body, or when retention took it (`payloadDropped`). */
  readonly payload: JsonValue | undefined;
  /** The payload as JSON text, with the digits that JavaScript would round. */
  readonly payloadJson: string | undefined;
  readonly headers: JsonObject;
  /** ISO 8601. */
  readonly occurredAt: string;
  readonly createdAt: string;
  /** `skipped`: a person decided that it has no effect. */
  readonly state: 'pending' | 'published' | 'skipped';
  readonly payloadDropped: boolean;
}

/**
 * The events of one aggregate after a version, in order, from the outbox of the same database: what a strict consumer asks
 * for when one is missing.
 *
 * @param input.limit 1 to 500
 * @example await aggregateEventsIn(pgTransaction(client), { aggregateType: 'order', aggregateId: '42', afterVersion: 2, limit: 100 });
 */
export async function aggregateEventsIn(
  connection: Transaction,
  input: {
    readonly aggregateType: string;
    readonly aggregateId: string;
    readonly afterVersion: number;
    readonly limit: number;
  },
): Promise<AggregateEvent[]> {
  const { aggregateType, aggregateId, afterVersion, limit } = input;
  const answer = await connection.run({
    text: `select event_id, version, type, schema_version, coalesce(payload::text, '') as payload, headers::text as headers, occurred_at, created_at, payload_dropped_at is not null as payload_dropped, state from leasehold.aggregate_events($1::text, $2::text, $3::text::bigint, $4::text::int)`,
    values: [aggregateType, aggregateId, String(afterVersion), String(limit)],
  });
  return resultRows(answer, COLUMNS).map((row) => {
    const payloadJson = row.text('payload') || undefined; // JSON text is never empty
    return {
      id: row.text('event_id'),
      aggregateType,
      aggregateId,
      version: row.integer('version'),
      type: row.text('type'),
      schemaVersion: row.integer('schema_version'),
      payload: payloadJson === undefined ? undefined : (JSON.parse(payloadJson) as JsonValue),
      payloadJson,
      headers: JSON.parse(row.text('headers')) as JsonObject,
      occurredAt: row.time('occurred_at').toISOString(),
      createdAt: row.time('created_at').toISOString(),
      state: row.text('state') as AggregateEvent['state'],
      payloadDropped: row.flag('payload_dropped'),
    };
  });
}

const COLUMNS = [
  'event_id',
  'version',
  'type',
  'schema_version',
  'payload',
  'headers',
  'occurred_at',
  'created_at',
  'payload_dropped',
  'state',
];
