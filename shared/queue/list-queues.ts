import type { Sql, SqlOptions } from '../ports.ts';
import type { QueueDocument } from './queue-settings.ts';

export interface ListQueuesInput {
  /** 1 to 200. */
  readonly limit: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
  /** Only these queues, for a caller who may not learn of others. */
  readonly only?: readonly string[];
}

/**
 * Queues by name.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const { queues } = await listQueues(sql, { limit: 50 });
 */
export async function listQueues(
  sql: Sql,
  input: ListQueuesInput,
  options?: SqlOptions,
): Promise<{ readonly queues: readonly QueueDocument[]; readonly nextCursor: string | null }> {
  const [row] = await sql.query<{ page: { queues: QueueDocument[]; next_cursor: string | null } }>(
    'select leasehold.list_queues($1::text, $2::int, $3::jsonb) as page',
    [
      input.cursor ?? null,
      input.limit,
      input.only === undefined ? null : JSON.stringify(input.only),
    ],
    options,
  );
  return { queues: row?.page.queues ?? [], nextCursor: row?.page.next_cursor ?? null };
}
