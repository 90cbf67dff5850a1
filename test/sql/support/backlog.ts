import type pg from 'pg';

/**
 * Adds `count` due jobs to a queue by plain inserts: the same rows as enqueueing them, only quicker.
 * Their ids carry the present time, their due times lie one microsecond apart in the last minute.
 */
export async function fillQueue(pool: pg.Pool, queue: string, count: number): Promise<void> {
  await pool.query('insert into leasehold.queues (name) values ($1) on conflict do nothing', [
    queue,
  ]);
  await pool.query(
    `with ids as materialized (
       select leasehold.new_job_id() as id, clock_timestamp() - interval '1 minute' + i * interval '1 microsecond' as due_at
       from generate_series(1, $2::int) i
     ),
     added as (
       insert into leasehold.jobs (id, queue, type, payload, home_lane, max_attempts, due_at, created_at, created_by)
       select id, $1, 'plan.row', '{}', 3, 5, due_at, due_at, 'test' from ids
     )
     insert into leasehold.job_state (job_id, due_at, max_attempts, lane, home_lane, queue)
     select id, due_at, 5, 3, 3, $1 from ids`,
    [queue, count],
  );
}
