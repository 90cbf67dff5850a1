-- leasehold.end_cancelled: ends a live job as cancelled. The caller has locked its row, and its ordering key before that.
-- p_result is kept when an attempt had already done the work. Internal.
create or replace function leasehold.end_cancelled(
  r leasehold.job_state,
  p_actor text,
  p_reason text,
  p_result jsonb default null,
  p_result_problem text default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  delete from leasehold.job_state where job_id = r.job_id;
  insert into leasehold.finished_jobs
    (job_id, state, attempt, fencing_token, finished_at, finished_by, result, result_problem, reason)
  values
    (r.job_id, 'cancelled', r.attempt, r.fencing_token, v_now, p_actor, p_result, left(p_result_problem, 200),
      left(p_reason, 1000));
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  values (r.job_id, v_now, 'cancelled', p_actor, r.fencing_token, jsonb_build_object('reason', left(p_reason, 1000)));
  if r.ordering_key is not null then
    perform leasehold.unpark(r.queue, r.ordering_key, p_actor);
  end if;
end
$$;
