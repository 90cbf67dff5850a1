import type { Sql, SqlOptions } from '../ports.ts';
import { EVENT_COLUMNS, eventOf } from './event-row.ts';
import type { EventRow } from './event-row.ts';

/** An event of the feed. */
export interface FedEvent extends ReturnType<typeof eventOf> {
  /** Ask for what comes after it. */
  readonly cursor: string;
  readonly occurredAt: Date;
  readonly createdAt: Date;
  /** When retention took the payload, which is then undefined. */
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
    `select cursor, ${EVENT_COLUMNS}, payload_dropped_at
     from leasehold.events_since($1::text, $2::int)`,
    [input.cursor ?? null, input.limit],
    options,
  );
  return rows.map((row) => ({
    ...eventOf(row),
    cursor: row.cursor,
    occurredAt: row.occurred_at,
    createdAt: row.created_at,
    payloadDroppedAt: row.payload_dropped_at,
  }));
}

type FedRow = EventRow & { cursor: string; payload_dropped_at: Date | null };
