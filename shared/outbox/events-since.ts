import type { JsonObject, JsonValue } from '../json-value.ts';
import type { Sql, SqlOptions } from '../ports.ts';

/** An event of the feed. */
export interface FedEvent {
  /** Ask for what comes after it. */
  readonly cursor: string;
  readonly id: string;
  readonly aggregateType: string;
  readonly aggregateId: string;
  readonly version: number;
  readonly type: string;
  readonly schemaVersion: number;
  /** Undefined: no body, or one that retention has taken (`payloadDroppedAt`). */
  readonly payload: JsonValue | undefined;
  readonly headers: JsonObject;
  readonly occurredAt: Date;
  readonly createdAt: Date;
  readonly payloadDroppedAt: Date | null;
}

/**
 * Events after a cursor, published or not, for readers that keep one. None is ever skipped: the feed ends below the oldest
 * transaction that still runs, so a long one delays what comes after it. Go by the versions for the order in an aggregate.
 *
 * @param input.cursor of the last event that was read; left out: from the beginning
 * @param input.limit 1 to 500
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const events = await eventsSince(sql, { cursor, limit: 100 });
 */
export async function eventsSince(
  sql: Sql,
  input: { readonly cursor?: string; readonly limit: number },
  options?: SqlOptions,
): Promise<FedEvent[]> {
  const rows = await sql.query<FedRow>(
    `select cursor, event_id, aggregate_type, aggregate_id, version, type, schema_version, payload::text as payload_json,
       headers, occurred_at, created_at, payload_dropped_at
     from leasehold.events_since($1::text, $2::int)`,
    [input.cursor ?? null, input.limit],
    options,
  );
  return rows.map((row) => ({
    cursor: row.cursor,
    id: row.event_id,
    aggregateType: row.aggregate_type,
    aggregateId: row.aggregate_id,
    version: Number(row.version),
    type: row.type,
    schemaVersion: row.schema_version,
    payload: row.payload_json === null ? undefined : (JSON.parse(row.payload_json) as JsonValue),
    headers: row.headers,
    occurredAt: row.occurred_at,
    createdAt: row.created_at,
    payloadDroppedAt: row.payload_dropped_at,
  }));
}

type FedRow = {
  cursor: string;
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
  payload_dropped_at: Date | null;
};
