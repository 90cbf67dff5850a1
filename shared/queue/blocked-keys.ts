import type { Sql, SqlOptions } from '../ports.ts';

export interface BlockedKeysInput {
  readonly queue: string;
  /** 1 to 200. */
  readonly limit: number;
  /** The last key of the page before. */
  readonly after?: string;
}

export interface BlockedKey {
  readonly orderingKey: string;
  /** Jobs that wait behind the key, counted up to 1,000. */
  readonly waiting: number;
  /** The job in front. */
  readonly blockedBy: string | null;
  /** A dead or escalated one blocks the key until a person has settled it. */
  readonly blockedByState: 'dead' | 'escalated' | 'running' | 'pending' | null;
}

/**
 * Ordering keys with jobs that wait, and what they wait for.
 *
 * @example const keys = await blockedKeys(sql, { queue: 'billing', limit: 50 });
 */
export async function blockedKeys(
  sql: Sql,
  input: BlockedKeysInput,
  options?: SqlOptions,
): Promise<BlockedKey[]> {
  const rows = await sql.query<{
    ordering_key: string;
    waiting: number;
    blocked_by: string | null;
    blocked_by_state: BlockedKey['blockedByState'];
  }>(
    'select * from leasehold.blocked_keys($1::text, $2::text, $3::int)',
    [input.queue, input.after ?? null, input.limit],
    options,
  );
  return rows.map((row) => ({
    orderingKey: row.ordering_key,
    waiting: row.waiting,
    blockedBy: row.blocked_by,
    blockedByState: row.blocked_by_state,
  }));
}
