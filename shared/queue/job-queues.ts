import type { Sql, SqlOptions } from '../ports.ts';

/**
 * Which queue each of some jobs is in; ids that are no jobs are not in the map.
 *
 * @param input.jobIds 1 to 1,000
 * @example const queue = (await jobQueues(sql, { jobIds: [id] })).get(id);
 */
export async function jobQueues(
  sql: Sql,
  input: { readonly jobIds: readonly string[] },
  options?: SqlOptions,
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.query<{ job_id: string; queue: string }>(
    'select * from leasehold.job_queues($1::jsonb)',
    [JSON.stringify(input.jobIds)],
    options,
  );
  return new Map(rows.map((row) => [row.job_id, row.queue]));
}
