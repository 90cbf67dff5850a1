import type { JsonObject, JsonValue } from '../json-value.ts';
import type { PublishedEvent } from '../published-event.ts';

/** The columns of an event that its readers select alike; the payload as text, since JavaScript would round its numbers. */
export const EVENT_COLUMNS = `event_id, aggregate_type, aggregate_id, version, type, schema_version,
  payload::text as payload_json, headers, occurred_at, created_at`;

/** What `EVENT_COLUMNS` gives. */
export type EventRow = {
  event_id: string;
  aggregate_type: string;
  aggregate_id: string;
  version: string;
  type: string;
  schema_version: number;
  payload_json: string | null;
  headers: JsonObject;
  occurred_at: Date;
  created_at: Date;
};

/** What an event is, apart from its times. */
export function eventOf(
  row: EventRow,
): Omit<PublishedEvent, 'payloadJson' | 'occurredAt' | 'createdAt' | 'attempt'> {
  return {
    id: row.event_id,
    aggregateType: row.aggregate_type,
    aggregateId: row.aggregate_id,
    version: Number(row.version),
    type: row.type,
    schemaVersion: row.schema_version,
    payload: row.payload_json === null ? undefined : (JSON.parse(row.payload_json) as JsonValue),
    headers: row.headers,
  };
}
