import type { Sql, SqlOptions } from '../ports.ts';

/** Every part may be left out. */
export interface DeadLetterFilter {
  readonly queue?: string;
  readonly type?: string;
  /** As in `dead.reason`. */
  readonly reason?: string;
  /** ISO 8601 with an offset: dead since this instant or later. */
  readonly from?: string;
  /** ISO 8601 with an offset: dead before this instant. */
  readonly until?: string;
}

/**
 * Ids of dead jobs that fit a filter, the oldest first. Changes nothing.
 *
 * @param input.limit 1 to 1,001: one more than a bulk form takes tells that there are too many
 * @example const ids = await matchingDeadLetters(sql, { filter: { queue: 'emails' }, limit: 1001 });
 */
export async function matchingDeadLetters(
  sql: Sql,
  input: { readonly filter: DeadLetterFilter; readonly limit: number },
  options?: SqlOptions,
): Promise<string[]> {
  const { queue, type, reason, from, until } = input.filter;
  const rows = await sql.query<{ job_id: string }>(
    'select * from leasehold.matching_dead_letters($1::text, $2::text, $3::text, $4::timestamptz, $5::timestamptz, $6::int)',
    [queue ?? null, type ?? null, reason ?? null, from ?? null, until ?? null, input.limit],
    options,
  );
  return rows.map((row) => row.job_id);
}
