import type { Sql, SqlOptions } from '../ports.ts';
import { givenBack, type GiveBackOutcome, type GiveBackRow } from './given-back.ts';
import type { Lease } from './lease.ts';

export interface ReleaseInput extends Lease {
  /** For people, up to 1,000 characters. */
  readonly reason?: string;
}

/**
 * Gives the job back at once, for anyone; no attempt is spent. Safe to repeat.
 *
 * @example await release(sql, { jobId, owner, fencingToken, reason: 'not my field' });
 */
export async function release(
  sql: Sql,
  input: ReleaseInput,
  options?: SqlOptions,
): Promise<GiveBackOutcome> {
  const [row] = await sql.query<GiveBackRow>(
    'select * from leasehold.release($1::uuid, $2::text, $3::bigint, $4::text)',
    [input.jobId, input.owner, input.fencingToken, input.reason ?? null],
    options,
  );
  return givenBack(row);
}
