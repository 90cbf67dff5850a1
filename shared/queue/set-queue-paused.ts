import type { Sql, SqlOptions } from '../ports.ts';

export interface SetQueuePausedInput {
  readonly queue: string;
  readonly paused: boolean;
  readonly actor: string;
  /** For people, up to 1,000 characters. */
  readonly reason?: string;
}

/**
 * Stops or resumes the claims of a queue; running jobs go on. Safe to repeat: `changed` is false when it was so already.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example await setQueuePaused(sql, { queue: 'emails', paused: true, actor: 'maria', reason: 'provider is down' });
 */
export async function setQueuePaused(
  sql: Sql,
  input: SetQueuePausedInput,
  options?: SqlOptions,
): Promise<{ readonly changed: boolean }> {
  const [row] = await sql.query<{ changed: boolean }>(
    'select leasehold.set_queue_paused($1::text, $2::boolean, $3::text, $4::text) as changed',
    [input.queue, input.paused, input.actor, input.reason ?? null],
    options,
  );
  return { changed: row?.changed ?? false };
}
