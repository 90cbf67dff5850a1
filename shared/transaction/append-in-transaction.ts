import { LeaseholdError } from '../errors.ts';
import { newEventValues, type AppendedEvent, type NewEvent } from '../outbox/new-event.ts';
import { resultRows } from './result-rows.ts';
import type { Statement, Transaction } from './statement.ts';

/**
 * Appends one event to the outbox in the caller's own transaction: it exists if that commits, and never did if it does
 * not. The aggregate's events stay in order, because other producers of the same aggregate wait here for the commit; so
 * append after your own writes, and commit soon. A relay finds the event after the commit by itself.
 *
 * @param producer.actor who adds the event, for the log; 1 to 200 characters
 * @throws what the driver throws, and the transaction is then aborted; its SQLSTATE is LH001 when the event breaks a rule
 * or its version is not the next one, LH002 when its id belongs to another event.
 * @example await appendIn(pgTransaction(client), { id, aggregateType: 'order', aggregateId: '42', type: 'order.placed', payload }, { actor: 'shop' });
 */
export async function appendIn(
  transaction: Transaction,
  event: NewEvent,
  producer: { readonly actor: string },
): Promise<AppendedEvent> {
  return readAppended(await transaction.run(appendStatement(event, producer)));
}

/**
 * The statement alone, for one batch over HTTP or a library without an adapter; give what comes back to `readAppended`.
 *
 * @example
 * await sql.transaction([
 *   sql`insert into orders (id) values (${orderId})`,
 *   neonQuery(sql, appendStatement(event, { actor: 'shop' })),
 * ]);
 */
export function appendStatement(event: NewEvent, producer: { readonly actor: string }): Statement {
  return {
    text: `select ${COLUMNS.join(', ')} from leasehold.append_event($1::text::uuid, $2::text, $3::text, $4::text, $5::text::jsonb, $6::text::bigint, $7::text::int, $8::text::jsonb, $9::text::timestamptz, $10::text)`,
    values: newEventValues(event, producer.actor),
  };
}

/**
 * Reads the answer to `appendStatement`.
 *
 * @param result the driver's rows, or its object with `rows`
 * @throws {LeaseholdError} `database_error` when it is another statement's answer
 */
export function readAppended(result: unknown): AppendedEvent {
  const [row] = resultRows(result, COLUMNS);
  const outcome = row?.text('outcome');
  if (row === undefined || (outcome !== 'appended' && outcome !== 'exists')) {
    throw new LeaseholdError('database_error', 'The database gave no outcome of the event.');
  }
  return {
    outcome,
    eventId: row.text('event_id'),
    version: row.integer('version'),
    createdAt: row.time('created_at'),
  };
}

const COLUMNS = ['outcome', 'event_id', 'version', 'created_at'];
