import type pg from 'pg';
import { RowsByJob } from './rows.ts';

export interface EventRow {
  readonly job_id: string;
  readonly id: string;
  readonly type: string;
  /** Milliseconds since 1970, with microseconds behind the point. */
  readonly at: number;
  readonly actor: string;
  readonly token: number | null;
  readonly details: Record<string, unknown> | null;
}

export interface AttemptRow {
  readonly job_id: string;
  readonly token: number;
  readonly attempt: number;
  readonly owner: string;
  readonly outcome: string;
  readonly error: unknown;
}

export interface JobRow {
  readonly job_id: string;
  readonly queue: string;
  readonly max_attempts: number;
  readonly max_unknown_attempts: number | null;
  /** Where its queue escalates, as that is set now. */
  readonly escalate_after: number | null;
  readonly ordering_key: string | null;
  readonly effects: Record<string, string> | null;
}

export interface LiveRow {
  readonly job_id: string;
  readonly lane: number;
  readonly due_at: number;
  readonly token: number;
  readonly attempt: number;
  readonly owner: string | null;
  readonly redrives: number;
  readonly unknown_failures: number;
  readonly cancel_requested: boolean;
}

/** Of the dead letters, where escalated jobs wait too. */
export interface DeadRow {
  readonly job_id: string;
  readonly state: string;
  readonly held_by: string | null;
  readonly held_until: number | null;
  readonly token: number;
  readonly attempt: number;
  readonly redrives: number;
}

export interface FinishedRow {
  readonly job_id: string;
  readonly state: string;
  readonly token: number;
  readonly attempt: number;
  readonly result: unknown;
}

/** Everything that the database knows of one job. */
export interface JobRows {
  readonly id: string;
  readonly job: JobRow | undefined;
  readonly live: readonly LiveRow[];
  readonly dead: readonly DeadRow[];
  readonly finished: readonly FinishedRow[];
  readonly attempts: readonly AttemptRow[];
  readonly events: readonly EventRow[];
}

const MS = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

const QUERIES = {
  jobs: `select j.id as job_id, j.queue, j.max_attempts, j.max_unknown_attempts, j.ordering_key,
      (select coalesce(j.escalate_after, q.escalate_after) from leasehold.queues q
       where q.name = j.queue and q.on_exhausted = 'escalate') as escalate_after,
      (select jsonb_object_agg(e.key, e.state) from leasehold.effects e where e.job_id = j.id) as effects
    from leasehold.jobs j order by j.id`,
  live: `select job_id, lane::int, ${MS('due_at')} as due_at, fencing_token::float8 as token, attempt, owner, redrives,
      unknown_failures, cancel_requested_at is not null as cancel_requested
    from leasehold.job_state order by job_id`,
  dead: `select job_id, state, held_by, ${MS('held_until')} as held_until, fencing_token::float8 as token, attempt, redrives
    from leasehold.dead_letters order by job_id`,
  finished: `select job_id, state, fencing_token::float8 as token, attempt, result from leasehold.finished_jobs order by job_id`,
  attempts: `select job_id, fencing_token::float8 as token, attempt, owner, outcome, error
    from leasehold.attempts order by job_id, fencing_token`,
  events: `select job_id, id::text, type, ${MS('at')} as at, actor, fencing_token::float8 as token, details
    from leasehold.job_events order by job_id, leasehold.job_events.id`,
};

/** One job after another, in the order of their ids, as one snapshot shows them. */
export async function* readJobs(client: pg.ClientBase): AsyncGenerator<JobRows, void> {
  const jobs = await RowsByJob.open<JobRow>(client, QUERIES.jobs);
  const live = await RowsByJob.open<LiveRow>(client, QUERIES.live);
  const dead = await RowsByJob.open<DeadRow>(client, QUERIES.dead);
  const finished = await RowsByJob.open<FinishedRow>(client, QUERIES.finished);
  const attempts = await RowsByJob.open<AttemptRow>(client, QUERIES.attempts);
  const events = await RowsByJob.open<EventRow>(client, QUERIES.events);
  const all = [jobs, live, dead, finished, attempts, events];
  for (;;) {
    let id: string | undefined;
    for (const { job } of all) if (job !== undefined && (id === undefined || job < id)) id = job;
    if (id === undefined) return;
    yield {
      id,
      job: (await jobs.take(id))[0],
      live: await live.take(id),
      dead: await dead.take(id),
      finished: await finished.take(id),
      attempts: await attempts.take(id),
      events: await events.take(id),
    };
  }
}
