import type { Sql, SqlOptions } from '../ports.ts';

export interface DueQueuesInput {
  /** At most this many queues. */
  readonly limit: number;
  /** Count at most this many due jobs of a queue. */
  readonly perQueue: number;
  /** The queues that the caller serves; of others only those with expired leases are told. Default: all. */
  readonly served?: readonly string[];
}

export interface DueQueue {
  readonly queue: string;
  /** Jobs claimable now, capped at `perQueue`. */
  readonly due: number;
  /** Expired leases among them. */
  readonly expired: number;
  readonly oldestDueAt: Date;
}

/**
 * Which queues have work for the caller, its own before others and the longest waiting first. Reads only.
 *
 * @example const due = await dueQueues(sql, { limit: 100, perQueue: 10, served: ['emails'] });
 */
export async function dueQueues(
  sql: Sql,
  input: DueQueuesInput,
  options?: SqlOptions,
): Promise<DueQueue[]> {
  const rows = await sql.query<DueQueueRow>(
    'select * from leasehold.due_queues($1::int, $2::int, $3::jsonb)',
    [input.limit, input.perQueue, input.served === undefined ? null : JSON.stringify(input.served)],
    options,
  );
  return rows.map((row) => ({
    queue: row.queue,
    due: row.due,
    expired: row.expired,
    oldestDueAt: row.oldest_due_at,
  }));
}

type DueQueueRow = { queue: string; due: number; expired: number; oldest_due_at: Date };
