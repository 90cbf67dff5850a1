import { defined } from '../defined.ts';
import type { JsonValue } from '../json-value.ts';
import type { Sql, SqlOptions } from '../ports.ts';
import type { Lease } from './lease.ts';

export interface CompleteInput extends Lease {
  /** Up to 2 MiB as jsonb in the database; left out when absent. */
  readonly result?: JsonValue;
  /** Why the result is not there, when it could not be stored. */
  readonly resultProblem?: string;
}

export type CompleteOutcome =
  /** `cancelled`: the job had been called off; the attempt counts as succeeded and its result is kept. */
  | {
      readonly outcome: 'succeeded' | 'cancelled';
      readonly moreDue: boolean;
      /** Its queue, where it had an ordering key: the next job of the key may go. */
      readonly keyedQueue?: string;
    }
  | { readonly outcome: 'lease_lost' };

/**
 * Ends the attempt and the job as succeeded, or learns that the lease is lost and changes nothing.
 * Repeated after a lost answer it gives the same outcome.
 *
 * @example const end = await complete(sql, { jobId, owner, fencingToken, result: { sent: true } });
 */
export async function complete(
  sql: Sql,
  input: CompleteInput,
  options?: SqlOptions,
): Promise<CompleteOutcome> {
  const [row] = await sql.query<CompleteRow>(
    'select * from leasehold.complete($1::uuid, $2::text, $3::bigint, $4::jsonb, $5::text)',
    [
      input.jobId,
      input.owner,
      input.fencingToken,
      input.result === undefined ? null : JSON.stringify(input.result),
      input.resultProblem ?? null,
    ],
    options,
  );
  return row === undefined || row.outcome === 'lease_lost'
    ? { outcome: 'lease_lost' }
    : defined({
        outcome: row.outcome,
        moreDue: row.more_due,
        keyedQueue: row.keyed_queue ?? undefined,
      });
}

type CompleteRow = {
  outcome: 'succeeded' | 'cancelled' | 'lease_lost';
  more_due: boolean;
  keyed_queue?: string | null;
};
