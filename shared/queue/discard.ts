import type { Sql, SqlOptions } from '../ports.ts';

export interface DiscardInput {
  /** 1 to 1,000. */
  readonly jobIds: readonly string[];
  /** Mandatory, 1 to 1,000 characters. */
  readonly reason: string;
  readonly actor: string;
}

export interface DiscardedJob {
  readonly jobId: string;
  readonly outcome: 'discarded' | 'not_dead';
}

/**
 * Gives chosen dead jobs up; they end as cancelled, and an ordering key that they blocked goes on. Safe to repeat.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example await discard(sql, { jobIds: [id], reason: 'customer left', actor: 'maria' });
 */
export async function discard(
  sql: Sql,
  input: DiscardInput,
  options?: SqlOptions,
): Promise<DiscardedJob[]> {
  const rows = await sql.query<{ job_id: string; outcome: DiscardedJob['outcome'] }>(
    'select * from leasehold.discard($1::jsonb, $2::text, $3::text)',
    [JSON.stringify(input.jobIds), input.reason, input.actor],
    options,
  );
  return rows.map((row) => ({ jobId: row.job_id, outcome: row.outcome }));
}
