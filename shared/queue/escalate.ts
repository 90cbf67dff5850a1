import type { Sql, SqlOptions } from '../ports.ts';
import type { Lease } from './lease.ts';

export interface EscalateInput extends Lease {
  /** What the person is to decide or do, 1 to 4,000 characters. */
  readonly question: string;
}

export type EscalateOutcome =
  /** `cancelled`: the job had been called off. */
  | { readonly outcome: 'escalated' | 'cancelled'; readonly moreDue: boolean }
  | { readonly outcome: 'lease_lost' };

/**
 * The holder of a lease asks a person: the attempt ends, and the job waits in the human lane. Safe to repeat.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example await escalate(sql, { jobId, owner, fencingToken, question: 'Which of the two addresses counts?' });
 */
export async function escalate(
  sql: Sql,
  input: EscalateInput,
  options?: SqlOptions,
): Promise<EscalateOutcome> {
  const [row] = await sql.query<{
    outcome: 'escalated' | 'cancelled' | 'lease_lost';
    more_due: boolean;
  }>(
    'select * from leasehold.escalate($1::uuid, $2::text, $3::bigint, $4::text)',
    [input.jobId, input.owner, input.fencingToken, input.question],
    options,
  );
  if (row === undefined || row.outcome === 'lease_lost') return { outcome: 'lease_lost' };
  return { outcome: row.outcome, moreDue: row.more_due };
}
