import type { Sql, SqlOptions } from '../ports.ts';
import type { ScheduleSummary } from './schedule.ts';

export interface DueSchedule {
  readonly schedule: ScheduleSummary;
  /** By the database clock. */
  readonly now: Date;
}

/**
 * Schedules with a slot that has come, the longest overdue first, without payloads. Reads only.
 *
 * @example const due = await dueSchedules(sql, { limit: 100 });
 */
export async function dueSchedules(
  sql: Sql,
  input: { readonly limit: number },
  options?: SqlOptions,
): Promise<DueSchedule[]> {
  return sql.query<{ schedule: ScheduleSummary; now: Date }>(
    'select * from leasehold.due_schedules($1::int)',
    [input.limit],
    options,
  );
}
