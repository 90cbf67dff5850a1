import type { Sql, SqlOptions } from '../ports.ts';
import { newEventValues, type AppendedEvent, type NewEvent } from './new-event.ts';

export interface AppendEventInput {
  readonly event: NewEvent;
  /** Who adds it, for the log; 1 to 200 characters. */
  readonly actor: string;
}

/**
 * Appends one event in a transaction of its own. Where it tells about rows, append it in their transaction instead
 * (`appendIn`), so that both are there or neither. Repeated with the same content it changes nothing.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field, `version` among them where it is not the next one;
 *   `job_id_conflict` when the id belongs to another event.
 * @example await appendEvent(sql, { event: { id, aggregateType: 'order', aggregateId: '42', type: 'order.placed' }, actor });
 */
export async function appendEvent(
  sql: Sql,
  input: AppendEventInput,
  options?: SqlOptions,
): Promise<AppendedEvent> {
  const [row] = await sql.query<AppendedRow>(
    `select outcome, event_id, version, created_at
     from leasehold.append_event(
       $1::uuid, $2::text, $3::text, $4::text, $5::jsonb, $6::bigint, $7::int, $8::jsonb, $9::timestamptz, $10::text
     )`,
    newEventValues(input.event, input.actor),
    options,
  );
  if (row === undefined) throw new TypeError('leasehold.append_event gave no row');
  return {
    outcome: row.outcome,
    eventId: row.event_id,
    version: Number(row.version),
    createdAt: row.created_at,
  };
}

type AppendedRow = {
  outcome: 'appended' | 'exists';
  event_id: string;
  version: string;
  created_at: Date;
};
