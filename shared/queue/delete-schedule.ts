import type { Sql, SqlOptions } from '../ports.ts';

/**
 * Removes a schedule; jobs that it made stay, and made again under the same name it never fires an old slot twice.
 *
 * @example const { deleted } = await deleteSchedule(sql, { name: 'nightly' });
 */
export async function deleteSchedule(
  sql: Sql,
  input: { readonly name: string },
  options?: SqlOptions,
): Promise<{ readonly deleted: boolean }> {
  const [row] = await sql.query<{ deleted: boolean }>(
    'select leasehold.delete_schedule($1::text) as deleted',
    [input.name],
    options,
  );
  return { deleted: row?.deleted ?? false };
}
