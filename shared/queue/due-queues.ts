import { LeaseholdError } from '../errors.ts';
import type { Sql, SqlOptions } from '../ports.ts';
import type { Delivery } from './delivery.ts';

export interface DueQueuesInput {
  /** At most this many queues. */
  readonly limit: number;
  /** Count at most this many due jobs of a queue. */
  readonly perQueue: number;
  /** The queues that the caller has handlers for; of others only pushed ones and those with expired leases are told. Default: all. */
  readonly served?: readonly string[];
}

export interface DueQueue {
  readonly queue: string;
  /** Jobs claimable now, capped at `perQueue`. */
  readonly due: number;
  /** Expired leases among them. */
  readonly expired: number;
  readonly oldestDueAt: Date;
  /** Share in rotations, 1 to 100. */
  readonly weight: number;
  readonly delivery: Delivery;
  /** Where its jobs are pushed, when they are. */
  readonly targetUrl: string | null;
}

export interface DueWork {
  /** Its own before others, the longest waiting first. */
  readonly queues: readonly DueQueue[];
  /** When there will be something to do that there is not now, schedules included; null: nothing waits for a time. */
  readonly nextAt: Date | null;
  /** By the database clock, when it looked. */
  readonly now: Date;
}

/**
 * Which queues have work for the caller, and when there will be more: all that a drain has to know, in one statement. Reads
 * only.
 *
 * @example const { queues, nextAt } = await dueQueues(sql, { limit: 100, perQueue: 10, served: ['emails'] });
 */
export async function dueQueues(
  sql: Sql,
  input: DueQueuesInput,
  options?: SqlOptions,
): Promise<DueWork> {
  const rows = await sql.query<DueWorkRow>(
    `select d.*, (select leasehold.next_wake($3::jsonb)) as next_at, statement_timestamp() as now
     from (values (1)) one
     left join leasehold.due_queues($1::int, $2::int, $3::jsonb) d on true`,
    [input.limit, input.perQueue, input.served === undefined ? null : JSON.stringify(input.served)],
    options,
  );
  const [first] = rows;
  if (first === undefined) throw new LeaseholdError('internal_error', 'The look gave no row.');
  return {
    queues: rows.flatMap((row) => (row.queue === null ? [] : [dueQueue(row)])),
    nextAt: first.next_at,
    now: first.now,
  };
}

function dueQueue(row: DueQueueRow): DueQueue {
  return {
    queue: row.queue,
    due: row.due,
    expired: row.expired,
    oldestDueAt: row.oldest_due_at,
    weight: row.weight,
    delivery: row.delivery,
    targetUrl: row.target_url,
  };
}

/** Without due work there is one row with no queue in it. */
type DueWorkRow = (DueQueueRow | { queue: null }) & { next_at: Date | null; now: Date };

type DueQueueRow = {
  queue: string;
  due: number;
  expired: number;
  oldest_due_at: Date;
  weight: number;
  delivery: Delivery;
  target_url: string | null;
};
