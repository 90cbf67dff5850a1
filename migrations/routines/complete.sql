-- leasehold.complete: ends the attempt and the job as succeeded.
--
--   p_job_id, p_owner, p_fencing_token  the lease, unexpired
--   p_result          any JSON value up to 2 MiB as jsonb, or null
--   p_result_problem  why the result is not there, when the caller could not store it
--
-- Returns one row: succeeded, or lease_lost when the lease ran out or another holds the job; then nothing changed.
-- Repeated after a lost answer it says succeeded again. A result over the limit is left out and named as the problem:
-- the work happened, so the job ends all the same. more_due hints at further due work in the queue.
-- Example: select * from leasehold.complete('…', 'worker-7', 3, '{"sent": true}');
create or replace function leasehold.complete(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_result jsonb default null,
  p_result_problem text default null
)
returns table (outcome text, more_due boolean)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_now timestamptz;
  v_queue text;
  r leasehold.job_state;
begin
  if pg_column_size(p_result) > 2097152 then
    p_result := null;
    p_result_problem := 'result_too_large';
  end if;

  delete from leasehold.job_state s
  where s.job_id = p_job_id
    and s.fencing_token = p_fencing_token
    and s.owner = p_owner
    and s.lane = 0
    and s.due_at > clock_timestamp()
  returning s.* into r;
  v_now := clock_timestamp();

  if r.job_id is null then
    select j.queue into v_queue
    from leasehold.attempts a
    join leasehold.jobs j on j.id = a.job_id
    where a.job_id = p_job_id
      and a.fencing_token = p_fencing_token
      and a.owner = p_owner
      and a.outcome = 'succeeded';
    if v_queue is null then
      return query select 'lease_lost', false;
    else
      return query select 'succeeded', leasehold.has_due(v_queue, v_now);
    end if;
    return;
  end if;

  insert into leasehold.attempts
    (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state)
  values (r.job_id, r.fencing_token, r.attempt, r.owner, r.started_at, v_now, 'succeeded', 'succeeded');
  insert into leasehold.finished_jobs
    (job_id, state, attempt, fencing_token, finished_at, finished_by, result, result_problem)
  values (r.job_id, 'succeeded', r.attempt, r.fencing_token, v_now, r.owner, p_result, left(p_result_problem, 200));
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  values (r.job_id, v_now, 'completed', r.owner, r.fencing_token, jsonb_build_object('attempt', r.attempt));

  return query select 'succeeded', leasehold.has_due(r.queue, v_now);
end
$$;
