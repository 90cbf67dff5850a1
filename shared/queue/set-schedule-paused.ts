import type { Sql, SqlOptions } from '../ports.ts';
import type { Schedule } from './schedule.ts';

export interface SetSchedulePausedInput {
  readonly name: string;
  readonly paused: boolean;
  /** The first slot after now, when resuming; slots that passed meanwhile are not made up for. */
  readonly nextSlotAt: string | null;
}

/**
 * Stops or resumes a schedule; undefined when there is none of this name. Safe to repeat.
 *
 * @example await setSchedulePaused(sql, { name: 'nightly', paused: true, nextSlotAt: null });
 */
export async function setSchedulePaused(
  sql: Sql,
  input: SetSchedulePausedInput,
  options?: SqlOptions,
): Promise<Schedule | undefined> {
  const [row] = await sql.query<{ schedule: Schedule | null }>(
    'select leasehold.set_schedule_paused($1::text, $2::boolean, $3::timestamptz) as schedule',
    [input.name, input.paused, input.nextSlotAt],
    options,
  );
  return row?.schedule ?? undefined;
}
