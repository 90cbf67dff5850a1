import type { Sql, SqlOptions } from '../ports.ts';

export interface RedriveInput {
  /** 1 to 1,000. */
  readonly jobIds: readonly string[];
  /** Mandatory, 1 to 1,000 characters. */
  readonly reason: string;
  readonly actor: string;
  /** 1 to 1,000: they become due at this rate instead of all at once. */
  readonly perSecond?: number;
}

export interface RedrivenJob {
  readonly jobId: string;
  /** `dedup_key_taken`: another live job has its dedup key, so it stays dead. */
  readonly outcome: 'redriven' | 'dedup_key_taken' | 'not_dead';
  /** The live job that has the dedup key. */
  readonly clash: string | null;
}

/**
 * Sends chosen dead jobs back, each as the job it was: id, payload, keys, tags and history stay, the budgets are fresh.
 * Safe to repeat: one that is back already is `not_dead`.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example await redrive(sql, { jobIds: [id], reason: 'the bug is fixed', actor: 'maria' });
 */
export async function redrive(
  sql: Sql,
  input: RedriveInput,
  options?: SqlOptions,
): Promise<RedrivenJob[]> {
  const rows = await sql.query<{
    job_id: string;
    outcome: RedrivenJob['outcome'];
    clash: string | null;
  }>(
    'select * from leasehold.redrive($1::jsonb, $2::text, $3::text, $4::int)',
    [JSON.stringify(input.jobIds), input.reason, input.actor, input.perSecond ?? null],
    options,
  );
  return rows.map((row) => ({ jobId: row.job_id, outcome: row.outcome, clash: row.clash }));
}
