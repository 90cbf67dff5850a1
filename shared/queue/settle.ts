import type { Sql, SqlOptions } from '../ports.ts';

export interface SettleInput {
  readonly queue: string;
  /** At most this many leases, 1 to 100. */
  readonly limit: number;
  /** Recorded in the log. */
  readonly actor: string;
}

/**
 * Settles expired leases of a queue that nobody claims from: back to pending, or dead when attempts are used up.
 *
 * @example const { settled } = await settle(sql, { queue: 'emails', limit: 20, actor: 'drain' });
 */
export async function settle(
  sql: Sql,
  input: SettleInput,
  options?: SqlOptions,
): Promise<{ readonly settled: number }> {
  const [row] = await sql.query<{ settled: number }>(
    'select leasehold.settle($1::text, $2::int, $3::text) as settled',
    [input.queue, input.limit, input.actor],
    options,
  );
  return { settled: row?.settled ?? 0 };
}
