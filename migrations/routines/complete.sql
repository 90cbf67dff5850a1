-- leasehold.complete: ends the attempt and the job as succeeded.
--
--   p_job_id, p_owner, p_fencing_token  the lease, unexpired
--   p_result          any JSON value up to 2 MiB as jsonb, or null
--   p_result_problem  why the result is not there, when the caller could not store it
--   p_raise           for a call inside the handler's own transaction: raise instead of answering wherever this statement
--                     did not end the attempt itself, so that the handler's writes roll back with it (default false)
--
-- Returns one row: succeeded; cancelled when the job had been called off before this statement saw it, then the result is
-- kept and the attempt counts as succeeded; or lease_lost when the lease ran out or another holds the job, then nothing
-- changed. Repeated after a lost answer it gives the same outcome. With p_raise, lease_lost is raised as LH004, and a repeat
-- as LH005: the first time committed with its writes, and these must not be made twice. A result over the limit is left out
-- and named as the problem: the work happened, so the job ends all the same. more_due hints at further due work in the queue.
-- Example: select * from leasehold.complete('…', 'worker-7', 3, '{"sent": true}');
create or replace function leasehold.complete(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_result jsonb default null,
  p_result_problem text default null,
  p_raise boolean default false
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
  v_state text := 'succeeded';
  r leasehold.job_state;
begin
  if pg_column_size(p_result) > 2097152 then
    p_result := null;
    p_result_problem := 'result_too_large';
  end if;

  r := leasehold.take_lease(p_job_id, p_owner, p_fencing_token);
  v_now := clock_timestamp();
  if r.job_id is null then
    return query
    select e.next_state, e.more_due from leasehold.ended_attempt(p_job_id, p_owner, p_fencing_token, 'succeeded') e;
    if found then
      if p_raise then
        raise exception using errcode = 'LH005', message = 'already_completed: this attempt has succeeded before';
      end if;
      return;
    end if;
    if p_raise then
      raise exception using errcode = 'LH004', message = 'lease_lost: another attempt may hold this job';
    end if;
    return query select 'lease_lost', false;
    return;
  end if;

  if r.cancel_requested_at is not null then
    v_state := 'cancelled';
  end if;
  insert into leasehold.attempts
    (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state)
  values (r.job_id, r.fencing_token, r.attempt, r.owner, r.started_at, v_now, 'succeeded', v_state);
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  values (r.job_id, v_now, 'completed', r.owner, r.fencing_token, jsonb_build_object('attempt', r.attempt));

  if v_state = 'cancelled' then
    perform leasehold.end_cancelled(r, r.cancel_requested_by, r.cancel_reason, p_result, p_result_problem);
  else
    delete from leasehold.job_state s where s.job_id = r.job_id;
    insert into leasehold.finished_jobs
      (job_id, state, attempt, fencing_token, finished_at, finished_by, result, result_problem)
    values (r.job_id, 'succeeded', r.attempt, r.fencing_token, v_now, r.owner, p_result, left(p_result_problem, 200));
    if r.ordering_key is not null then
      perform leasehold.unpark(r.queue, r.ordering_key, r.owner);
    end if;
  end if;
  return query select v_state, leasehold.has_due(r.queue, clock_timestamp());
end
$$;
