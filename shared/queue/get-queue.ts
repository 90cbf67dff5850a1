import type { Sql, SqlOptions } from '../ports.ts';
import type { QueueDocument } from './queue-settings.ts';

/**
 * Settings and switches of one queue, or undefined when there is none of this name.
 *
 * @example const queue = await getQueue(sql, { queue: 'emails' });
 */
export async function getQueue(
  sql: Sql,
  input: { readonly queue: string },
  options?: SqlOptions,
): Promise<QueueDocument | undefined> {
  const [row] = await sql.query<{ queue: QueueDocument | null }>(
    'select leasehold.queue_document($1::text) as queue',
    [input.queue],
    options,
  );
  return row?.queue ?? undefined;
}
