import type { Sql, SqlOptions } from '../ports.ts';
import type { JobState } from './job.ts';
import type { LogEventType } from './log-event.ts';

export interface BoardAtInput {
  /** ISO 8601 with an offset: an instant that has passed. */
  readonly at: string;
  readonly queue?: string;
  /** Jobs of these queues alone. */
  readonly queues?: readonly string[];
  /** Of the job at that instant. */
  readonly state?: JobState;
  /** 1 to 200. */
  readonly limit: number;
  /** `next_before` of the page before. */
  readonly before?: string;
}

/** A job as it was at an instant. */
export interface PastJob {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  readonly state: JobState;
  readonly since: string;
  /** What brought it into that state. */
  readonly event: LogEventType;
  readonly reason: string | null;
  readonly attempt: number;
  readonly fencing_token: string | null;
  /** Who held its lease. */
  readonly owner: string | null;
  readonly progress: string | null;
  readonly ordering_key: string | null;
  readonly tags: readonly string[];
  readonly created_at: string;
  readonly created_by: string;
}

export interface PastQueue {
  readonly name: string;
  readonly paused: {
    readonly since: string;
    readonly by: string;
    readonly reason: string | null;
  } | null;
}

/** `counts`, `capped` and `queues` come with the first page alone. */
export interface PastBoard {
  readonly at: string;
  /** Newest first. */
  readonly jobs: readonly PastJob[];
  /** Null on the last page. A page may be short and still have one. */
  readonly next_before: string | null;
  /** Jobs in each state among those that were looked at. */
  readonly counts: Readonly<Partial<Record<JobState, number>>> | null;
  /** Whether there were more jobs than were looked at. */
  readonly capped: boolean | null;
  readonly queues: readonly PastQueue[] | null;
}

/**
 * The board as it was at an instant, from the event log, as far as retention has left its jobs.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const { jobs } = await boardAt(sql, { at: '2030-01-31T12:00:00Z', state: 'running', limit: 50 });
 */
export async function boardAt(
  sql: Sql,
  input: BoardAtInput,
  options?: SqlOptions,
): Promise<PastBoard> {
  const filter = { queue: input.queue, queues: input.queues, state: input.state };
  const [row] = await sql.query<{ board: PastBoard }>(
    'select leasehold.board_at($1::timestamptz, $2::jsonb, $3::int, $4::uuid) as board',
    [input.at, JSON.stringify(filter), input.limit, input.before ?? null],
    options,
  );
  if (row === undefined) throw new TypeError('board_at gave no row');
  return row.board;
}
