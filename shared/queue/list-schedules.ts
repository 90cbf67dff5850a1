import type { Sql, SqlOptions } from '../ports.ts';
import type { ScheduleSummary } from './schedule.ts';

/**
 * Schedules by name, without payloads.
 *
 * @param input.limit 1 to 200
 * @param input.cursor `nextCursor` of the page before
 * @param input.only schedules of these queues, for a caller who may not learn of others
 * @example const { schedules } = await listSchedules(sql, { limit: 50 });
 */
export async function listSchedules(
  sql: Sql,
  input: { readonly limit: number; readonly cursor?: string; readonly only?: readonly string[] },
  options?: SqlOptions,
): Promise<{ readonly schedules: readonly ScheduleSummary[]; readonly nextCursor: string | null }> {
  const [row] = await sql.query<{
    page: { schedules: ScheduleSummary[]; next_cursor: string | null };
  }>(
    'select leasehold.list_schedules($1::text, $2::int, $3::jsonb) as page',
    [
      input.cursor ?? null,
      input.limit,
      input.only === undefined ? null : JSON.stringify(input.only),
    ],
    options,
  );
  return { schedules: row?.page.schedules ?? [], nextCursor: row?.page.next_cursor ?? null };
}
