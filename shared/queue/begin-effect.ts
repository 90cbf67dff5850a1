import type { JsonValue } from '../json-value.ts';
import type { Sql, SqlOptions } from '../ports.ts';
import type { Lease } from './lease.ts';

export interface BeginEffectInput extends Lease {
  /** Names the effect within the job, 1 to 200 characters. */
  readonly key: string;
}

export type BeginEffectOutcome =
  /** Do it now, then settle it. */
  | { readonly outcome: 'run' }
  /** It is done: do not do it again. */
  | { readonly outcome: 'done'; readonly result: JsonValue }
  /** An earlier attempt began it, and nobody knows how it ended: reconcile, then settle it. */
  | { readonly outcome: 'uncertain' }
  | { readonly outcome: 'lease_lost' };

/**
 * Records that the attempt is about to do something outside the database. Safe to repeat by the same attempt.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const begun = await beginEffect(sql, { jobId, owner, fencingToken, key: 'charge' });
 */
export async function beginEffect(
  sql: Sql,
  input: BeginEffectInput,
  options?: SqlOptions,
): Promise<BeginEffectOutcome> {
  const [row] = await sql.query<{ outcome: BeginEffectOutcome['outcome']; result: JsonValue }>(
    'select * from leasehold.begin_effect($1::uuid, $2::text, $3::bigint, $4::text)',
    [input.jobId, input.owner, input.fencingToken, input.key],
    options,
  );
  if (row === undefined) return { outcome: 'lease_lost' };
  return row.outcome === 'done'
    ? { outcome: 'done', result: row.result }
    : { outcome: row.outcome };
}
