import type { Sql, SqlOptions } from '../ports.ts';
import type { ChosenEvent, ChosenEventsInput } from './chosen-events.ts';

/**
 * Decides that chosen quarantined events are never published; their aggregates go on behind them, and consumers see a gap
 * in the versions. Safe to repeat.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example await skipEvents(sql, { eventIds: [id], reason: 'test data', actor: 'maria' });
 */
export async function skipEvents(
  sql: Sql,
  input: ChosenEventsInput,
  options?: SqlOptions,
): Promise<ChosenEvent<'skipped'>[]> {
  const rows = await sql.query<{ event_id: string; outcome: 'skipped' | 'not_quarantined' }>(
    'select * from leasehold.skip_events($1::jsonb, $2::text, $3::text)',
    [JSON.stringify(input.eventIds), input.reason, input.actor],
    options,
  );
  return rows.map((row) => ({ eventId: row.event_id, outcome: row.outcome }));
}
