import type { JsonValue } from '../json-value.ts';
import type { Sql, SqlOptions } from '../ports.ts';

export interface SettleEffectInput {
  readonly jobId: string;
  readonly key: string;
  /** `not_done`: a later attempt may run it. */
  readonly state: 'done' | 'not_done';
  /** Up to 64 KiB, kept with `done`. */
  readonly result?: JsonValue;
  /** The lease's owner, or the person. */
  readonly actor: string;
  /** Of the attempt that says so; absent: a person, while no attempt runs. */
  readonly fencingToken?: string;
}

/** `running`: a person's word is refused while an attempt runs. */
export type SettleEffectOutcome = 'settled' | 'running' | 'lease_lost' | 'not_found';

/**
 * Records how an effect ended. Safe to repeat.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example await settleEffect(sql, { jobId, key: 'charge', state: 'done', result: { id: 'ch_1' }, actor: owner, fencingToken });
 */
export async function settleEffect(
  sql: Sql,
  input: SettleEffectInput,
  options?: SqlOptions,
): Promise<SettleEffectOutcome> {
  const [row] = await sql.query<{ outcome: SettleEffectOutcome }>(
    'select leasehold.settle_effect($1::uuid, $2::text, $3::text, $4::jsonb, $5::text, $6::bigint) as outcome',
    [
      input.jobId,
      input.key,
      input.state,
      input.result === undefined ? null : JSON.stringify(input.result),
      input.actor,
      input.fencingToken ?? null,
    ],
    options,
  );
  return row?.outcome ?? 'not_found';
}
