import type { Sql, SqlOptions } from '../ports.ts';
import type { Priority } from './new-job.ts';

export interface EditJobInput {
  readonly jobId: string;
  /** ISO 8601 with an offset, at most 366 days ahead; the past means now. */
  readonly dueAt?: string;
  readonly priority?: Priority;
  /** Who changes it, for the log. */
  readonly actor: string;
}

export type EditJobOutcome = 'edited' | 'not_pending' | 'not_found';

/**
 * Changes when a pending job is due, or its priority.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example await editJob(sql, { jobId, priority: 'urgent', actor: 'maria' });
 */
export async function editJob(
  sql: Sql,
  input: EditJobInput,
  options?: SqlOptions,
): Promise<EditJobOutcome> {
  const [row] = await sql.query<{ outcome: EditJobOutcome }>(
    'select leasehold.edit_job($1::uuid, $2::timestamptz, $3::text, $4::text) as outcome',
    [input.jobId, input.dueAt ?? null, input.priority ?? null, input.actor],
    options,
  );
  return row?.outcome ?? 'not_found';
}
