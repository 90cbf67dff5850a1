import type { Sql, SqlOptions } from '../ports.ts';
import type { QueueDocument, QueueSettings } from './queue-settings.ts';

export interface ConfigureQueueInput {
  readonly queue: string;
  /** One that is absent stays as it is; null removes a limit or the target. */
  readonly settings: Partial<QueueSettings>;
  /** For the log. */
  readonly actor: string;
}

/**
 * Makes a queue or changes its settings, and returns those in force. Safe to repeat.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field and its range.
 * @example await configureQueue(sql, { queue: 'emails', settings: { lease_seconds: 60 }, actor: 'maria' });
 */
export async function configureQueue(
  sql: Sql,
  input: ConfigureQueueInput,
  options?: SqlOptions,
): Promise<QueueDocument> {
  const [row] = await sql.query<{ queue: QueueDocument }>(
    'select leasehold.configure_queue($1::text, $2::jsonb, $3::text) as queue',
    [input.queue, JSON.stringify(input.settings), input.actor],
    options,
  );
  if (row === undefined) throw new Error('configure_queue gave no row');
  return row.queue;
}
