import type { Sql, SqlOptions } from '../ports.ts';

export interface RetainInput {
  /** 1 to 10,000 rows of each kind. */
  readonly limit: number;
  /** 1 to 8,760 hours that answers to Idempotency-Keys are kept. */
  readonly keyHours: number;
}

/**
 * One bounded pass of retention and upkeep: drops whole weeks of history, deletes jobs that ended long ago, and makes the
 * partitions of the weeks to come. Live and dead jobs are never touched. Call it until it says 0.
 *
 * @example const { removed } = await retain(sql, { limit: 2000, keyHours: 24 });
 */
export async function retain(
  sql: Sql,
  input: RetainInput,
  options?: SqlOptions,
): Promise<{ readonly removed: number }> {
  const [row] = await sql.query<{ removed: number }>(
    'select leasehold.retain($1::int, $2::int) as removed',
    [input.limit, input.keyHours],
    options,
  );
  return { removed: row?.removed ?? 0 };
}
