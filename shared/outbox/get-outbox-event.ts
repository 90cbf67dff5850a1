import type { Sql, SqlOptions } from '../ports.ts';
import type { OutboxEventDetails } from './outbox-event.ts';

/**
 * One event with its payload, its state and its log, or undefined when no event has this id.
 *
 * @example const event = await getOutboxEvent(sql, { eventId });
 */
export async function getOutboxEvent(
  sql: Sql,
  input: { readonly eventId: string },
  options?: SqlOptions,
): Promise<OutboxEventDetails | undefined> {
  const [row] = await sql.query<{ event: OutboxEventDetails | null }>(
    'select leasehold.get_outbox_event($1::uuid) as event',
    [input.eventId],
    options,
  );
  return row?.event ?? undefined;
}
