import type { Sql, SqlOptions } from '../ports.ts';

export interface CancelInput {
  readonly jobId: string;
  /** Who calls it off, for the log. */
  readonly actor: string;
  /** For people, up to 1,000 characters. */
  readonly reason?: string;
}

/**
 * - `cancelled`: it was pending, and has ended.
 * - `cancel_requested`: it runs; its holder hears at the next heartbeat, and whatever the attempt reports, even success,
 *   the job ends as cancelled.
 * - `already_ended`: succeeded, cancelled or dead (a dead job is discarded, not cancelled).
 */
export type CancelOutcome = 'cancelled' | 'cancel_requested' | 'already_ended' | 'not_found';

/**
 * Calls a job off. Safe to repeat.
 *
 * @example if ((await cancel(sql, { jobId, actor: 'maria' })) === 'not_found') …
 */
export async function cancel(
  sql: Sql,
  input: CancelInput,
  options?: SqlOptions,
): Promise<CancelOutcome> {
  const [row] = await sql.query<{ outcome: CancelOutcome }>(
    'select leasehold.cancel($1::uuid, $2::text, $3::text) as outcome',
    [input.jobId, input.actor, input.reason ?? null],
    options,
  );
  return row?.outcome ?? 'not_found';
}
