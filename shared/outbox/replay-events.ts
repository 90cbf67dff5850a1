import type { Sql, SqlOptions } from '../ports.ts';
import type { ChosenEvent, ChosenEventsInput } from './chosen-events.ts';

/**
 * Lets chosen quarantined events be tried again, with fresh attempts and under the same ids; what waits behind them follows
 * once they are out. Safe to repeat: one that is no longer quarantined is left alone.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example await replayEvents(sql, { eventIds: [id], reason: 'the receiver knows version 2 now', actor: 'maria' });
 */
export async function replayEvents(
  sql: Sql,
  input: ChosenEventsInput,
  options?: SqlOptions,
): Promise<ChosenEvent<'replayed'>[]> {
  const rows = await sql.query<{ event_id: string; outcome: 'replayed' | 'not_quarantined' }>(
    'select * from leasehold.replay_events($1::jsonb, $2::text, $3::text)',
    [JSON.stringify(input.eventIds), input.reason, input.actor],
    options,
  );
  return rows.map((row) => ({ eventId: row.event_id, outcome: row.outcome }));
}
