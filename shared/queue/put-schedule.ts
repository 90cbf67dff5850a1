import type { Sql, SqlOptions } from '../ports.ts';
import type { Schedule, ScheduleSettings } from './schedule.ts';

export interface PutScheduleInput {
  readonly schedule: ScheduleSettings;
  /** ISO 8601 with an offset: the first slot after now, or null when it never fires again. */
  readonly nextSlotAt: string | null;
  readonly actor: string;
}

/**
 * Makes a schedule or changes it; a change counts from now on, and no slot of the old times fires any more. Safe to repeat.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example await putSchedule(sql, { schedule, nextSlotAt: '2026-12-01T02:00:00Z', actor: 'maria' });
 */
export async function putSchedule(
  sql: Sql,
  input: PutScheduleInput,
  options?: SqlOptions,
): Promise<Schedule> {
  const [row] = await sql.query<{ schedule: Schedule }>(
    'select leasehold.put_schedule($1::jsonb, $2::timestamptz, $3::text) as schedule',
    [JSON.stringify(input.schedule), input.nextSlotAt, input.actor],
    options,
  );
  if (row === undefined) throw new Error('put_schedule gave no row');
  return row.schedule;
}
