import type { Sql, SqlOptions } from '../ports.ts';
import type { TurnName } from './take-turn.ts';

/**
 * When a pass was last begun, to the interval of its turns; null: never.
 *
 * @example const { at } = await lastTurn(sql, { name: 'tick' });
 */
export async function lastTurn(
  sql: Sql,
  input: { readonly name: TurnName },
  options?: SqlOptions,
): Promise<{ readonly at: Date | null }> {
  const [row] = await sql.query<{ at: Date | null }>(
    'select leasehold.last_turn($1::text) as at',
    [input.name],
    options,
  );
  return { at: row?.at ?? null };
}
