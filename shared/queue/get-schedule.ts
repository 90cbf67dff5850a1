import type { Sql, SqlOptions } from '../ports.ts';
import type { Schedule } from './schedule.ts';

/**
 * One schedule, or undefined when there is none of this name.
 *
 * @example const schedule = await getSchedule(sql, { name: 'nightly' });
 */
export async function getSchedule(
  sql: Sql,
  input: { readonly name: string },
  options?: SqlOptions,
): Promise<Schedule | undefined> {
  const [row] = await sql.query<{ schedule: Schedule | null }>(
    'select leasehold.get_schedule($1::text) as schedule',
    [input.name],
    options,
  );
  return row?.schedule ?? undefined;
}
