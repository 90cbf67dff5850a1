import type { Sql, SqlOptions } from '../ports.ts';

/**
 * Counts failed pushes in a row, so that a dead endpoint rests instead of taking everyone's time: from the fifth on the
 * claims of its queue wait, 5 s doubling to 10 minutes. A success ends it.
 *
 * @returns when claims go on, or null
 * @example await recordPush(sql, { queue: 'webhooks', ok: false });
 */
export async function recordPush(
  sql: Sql,
  input: { readonly queue: string; readonly ok: boolean },
  options?: SqlOptions,
): Promise<{ readonly resumeAt: Date | null }> {
  const [row] = await sql.query<{ resume_at: Date | null }>(
    'select leasehold.record_push($1::text, $2::boolean) as resume_at',
    [input.queue, input.ok],
    options,
  );
  return { resumeAt: row?.resume_at ?? null };
}
