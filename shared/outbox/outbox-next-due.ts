import type { Sql, SqlOptions } from '../ports.ts';

/**
 * When a relay next has something to do: now, when a held event is to be tried again, or when the lease of a relay that may
 * have died runs out; undefined: not before something is appended. For setting a wake-up, which stays a hint.
 *
 * @example const at = await outboxNextDue(sql);
 */
export async function outboxNextDue(sql: Sql, options?: SqlOptions): Promise<Date | undefined> {
  const [row] = await sql.query<{ at: Date | null }>(
    'select leasehold.outbox_next_due() as at',
    [],
    options,
  );
  return row?.at ?? undefined;
}
