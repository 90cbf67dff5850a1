import type { Sql, SqlOptions } from '../ports.ts';
import type { OutboxEventSummary, OutboxState } from './outbox-event.ts';

export interface ListOutboxEventsInput {
  readonly state?: OutboxState;
  /** Together with `aggregateId`. */
  readonly aggregateType?: string;
  readonly aggregateId?: string;
  /** 1 to 200. */
  readonly limit: number;
  /** `nextCursor` of the page before, with the same filter. */
  readonly cursor?: string;
}

export interface OutboxEventPage {
  readonly events: readonly OutboxEventSummary[];
  /** Null on the last page. A page may be short and still have one. */
  readonly nextCursor: string | null;
}

/**
 * Events of the outbox by pages, without payloads: what waits oldest first, everything else newest first.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const page = await listOutboxEvents(sql, { state: 'quarantined', limit: 50 });
 */
export async function listOutboxEvents(
  sql: Sql,
  input: ListOutboxEventsInput,
  options?: SqlOptions,
): Promise<OutboxEventPage> {
  const filter = {
    state: input.state,
    aggregate_type: input.aggregateType,
    aggregate_id: input.aggregateId,
  };
  const [row] = await sql.query<{
    page: { events: OutboxEventSummary[]; next_cursor: string | null };
  }>(
    'select leasehold.list_outbox_events($1::jsonb, $2::int, $3::text) as page',
    [JSON.stringify(filter), input.limit, input.cursor ?? null],
    options,
  );
  return { events: row?.page.events ?? [], nextCursor: row?.page.next_cursor ?? null };
}
