import type { Sql, SqlOptions } from '../ports.ts';

/** Passes that come round. */
export type TurnName = 'tick' | 'retention';

export interface TakeTurnInput {
  readonly name: TurnName;
  /** 1 to 86,400. */
  readonly everySeconds: number;
}

/**
 * Whether it is time for a pass that comes round: of all that ask within an interval, one is told so.
 *
 * @example const { taken } = await takeTurn(sql, { name: 'retention', everySeconds: 3600 });
 */
export async function takeTurn(
  sql: Sql,
  input: TakeTurnInput,
  options?: SqlOptions,
): Promise<{ readonly taken: boolean }> {
  const [row] = await sql.query<{ taken: boolean }>(
    'select leasehold.take_turn($1::text, $2::int) as taken',
    [input.name, input.everySeconds],
    options,
  );
  return { taken: row?.taken ?? false };
}
