/** Backlogs of ours by plain SQL: the same rows as by the routines, without their events, in a fraction of the time. */
import type { BenchDatabase } from './bench-database.ts';

/** A fill of this many rows a statement keeps its transactions short. */
const ROWS_A_STATEMENT = 100_000;

export interface DueFill {
  readonly queue: string;
  readonly count: number;
  readonly delaySeconds?: number;
  readonly payload?: object;
}

/** Adds jobs without keys, due one microsecond apart from now on, or from `delaySeconds` on. */
export async function fillDue(
  database: BenchDatabase,
  { queue, count, delaySeconds = 0, payload = {} }: DueFill,
): Promise<void> {
  await addQueues(database, [queue]);
  for (let left = count; left > 0; left -= ROWS_A_STATEMENT) {
    await database.pool.query(
      `with start as materialized (select clock_timestamp() + make_interval(secs => $3::float8) as at),
       ids as materialized (
         select leasehold.new_job_id() as id, start.at + i * interval '1 microsecond' as due_at
         from start, generate_series(1, $2::int) i
       ),
       added as (
         insert into leasehold.jobs (id, queue, type, payload, home_lane, max_attempts, due_at, created_at, created_by)
         select id, $1, 'bench', $4::jsonb, 3, 5, due_at, clock_timestamp(), 'bench' from ids
       )
       insert into leasehold.job_state (job_id, due_at, max_attempts, lane, home_lane, queue)
       select id, due_at, 5, 3, 3, $1 from ids`,
      [queue, Math.min(left, ROWS_A_STATEMENT), delaySeconds, JSON.stringify(payload)],
    );
  }
}

/** Adds jobs that wait behind their ordering key; the caller sees to it that the key is held. */
export async function fillParked(
  database: BenchDatabase,
  { queue, key, count }: { readonly queue: string; readonly key: string; readonly count: number },
): Promise<void> {
  for (let left = count; left > 0; left -= ROWS_A_STATEMENT) {
    await database.pool.query(
      `with ids as materialized (
         select leasehold.new_job_id() as id, clock_timestamp() as due_at, nextval('leasehold.ordering_key_seq') as key_seq
         from generate_series(1, $2::int)
       ),
       added as (
         insert into leasehold.jobs
           (id, queue, type, payload, home_lane, max_attempts, due_at, created_at, created_by, ordering_key, key_seq)
         select id, $1, 'bench', '{}', 3, 5, due_at, due_at, 'bench', $3, key_seq from ids
       )
       insert into leasehold.job_state (job_id, due_at, max_attempts, lane, home_lane, queue, ordering_key, key_seq)
       select id, due_at, 5, 9, 3, $1, $3, key_seq from ids`,
      [queue, Math.min(left, ROWS_A_STATEMENT), key],
    );
  }
}

/** Adds `each` due jobs to every queue of the list. */
export async function fillQueues(
  database: BenchDatabase,
  queues: readonly string[],
  each: number,
): Promise<void> {
  await addQueues(database, queues);
  await database.pool.query(
    `with ids as materialized (
       select leasehold.new_job_id() as id, q.name as queue, clock_timestamp() as due_at
       from generate_series(1, $2::int), unnest($1::text[]) q (name)
     ),
     added as (
       insert into leasehold.jobs (id, queue, type, payload, home_lane, max_attempts, due_at, created_at, created_by)
       select id, queue, 'bench', '{}', 3, 5, due_at, due_at, 'bench' from ids
     )
     insert into leasehold.job_state (job_id, due_at, max_attempts, lane, home_lane, queue)
     select id, due_at, 5, 3, 3, queue from ids`,
    [queues, each],
  );
}

/** Ends due jobs as completed: the rows that a claim and a completion leave. */
export async function finishDue(
  database: BenchDatabase,
  queue: string,
  count: number,
): Promise<void> {
  for (let left = count; left > 0; left -= ROWS_A_STATEMENT) {
    await database.pool.query(
      `with chosen as materialized (
         select job_id from leasehold.job_state where queue = $1 and lane = 3 order by due_at limit $2
       ),
       gone as (
         delete from leasehold.job_state s using chosen where s.job_id = chosen.job_id returning s.job_id
       ),
       tried as (
         insert into leasehold.attempts
           (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state)
         select job_id, 1, 1, 'bench', clock_timestamp(), clock_timestamp(), 'succeeded', 'succeeded' from gone
       )
       insert into leasehold.finished_jobs (job_id, state, attempt, fencing_token, finished_at, finished_by)
       select job_id, 'succeeded', 1, 1, clock_timestamp(), 'bench' from gone`,
      [queue, Math.min(left, ROWS_A_STATEMENT)],
    );
  }
}

async function addQueues(database: BenchDatabase, queues: readonly string[]): Promise<void> {
  await database.pool.query(
    'insert into leasehold.queues (name) select unnest($1::text[]) on conflict do nothing',
    [queues],
  );
}
