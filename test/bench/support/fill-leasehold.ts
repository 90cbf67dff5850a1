import type { BenchDatabase } from './bench-database.ts';

/** A fill of this many rows a statement keeps its transaction short. */
const ROWS_A_STATEMENT = 100_000;

export interface LeaseholdFill {
  readonly queue: string;
  readonly count: number;
  readonly delaySeconds?: number;
  /** All jobs get this ordering key and wait behind a job of it that is not theirs to wait for. */
  readonly parkedBehind?: string;
}

/**
 * Adds jobs by plain inserts: the same rows as enqueueing them, without their events. Due jobs come one microsecond apart
 * from now on.
 */
export async function fillLeasehold(database: BenchDatabase, fill: LeaseholdFill): Promise<void> {
  await database.pool.query(
    'insert into leasehold.queues (name) values ($1) on conflict do nothing',
    [fill.queue],
  );
  for (let left = fill.count; left > 0; left -= ROWS_A_STATEMENT) {
    await database.pool.query(
      `with start as materialized (select clock_timestamp() + make_interval(secs => $3::float8) as at),
       ids as materialized (
         select leasehold.new_job_id() as id, start.at + i * interval '1 microsecond' as due_at,
           case when $4::text is not null then nextval('leasehold.ordering_key_seq') end as key_seq
         from start, generate_series(1, $2::int) i
       ),
       added as (
         insert into leasehold.jobs
           (id, queue, type, payload, home_lane, max_attempts, due_at, created_at, created_by, ordering_key, key_seq)
         select id, $1, 'bench', '{}', 3, 5, due_at, due_at, 'bench', $4::text, key_seq from ids
       )
       insert into leasehold.job_state
         (job_id, due_at, max_attempts, lane, home_lane, queue, ordering_key, key_seq)
       select id, due_at, 5, case when $4::text is null then 3 else 9 end, 3, $1, $4::text, key_seq from ids`,
      [
        fill.queue,
        Math.min(left, ROWS_A_STATEMENT),
        fill.delaySeconds ?? 0,
        fill.parkedBehind ?? null,
      ],
    );
  }
}
