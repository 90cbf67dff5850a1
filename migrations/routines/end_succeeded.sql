-- leasehold.end_succeeded: ends an attempt and its job as succeeded; the work of complete and of complete_and_claim, with the
-- parameters of the first. Gives the outcome (succeeded, cancelled or lease_lost; with p_raise the last and a repeat are raised), the job's
-- queue, and whether it had an ordering key, whose next job may go.
-- A job that has an ordering key or was called off takes the longer way over leasehold.take_lease. Internal.
-- A result that gains a column is another function to Postgres; calls that run go on in the old one.
do $$ begin
  if pg_get_function_arguments(to_regprocedure('leasehold.end_succeeded(uuid, text, bigint, jsonb, text, boolean)')) not like '%, OUT keyed boolean' then
    alter function leasehold.end_succeeded(uuid, text, bigint, jsonb, text, boolean) rename to retired_end_succeeded;
  end if;
end $$;
create or replace function leasehold.end_succeeded(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_result jsonb,
  p_result_problem text,
  p_raise boolean,
  out outcome text,
  out queue text,
  out keyed boolean
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz;
  r leasehold.job_state;
begin
  outcome := 'succeeded';
  if pg_column_size(p_result) > 2097152 then
    p_result := null;
    p_result_problem := 'result_too_large';
  end if;

  delete from leasehold.job_state s
  where s.job_id = p_job_id
    and s.fencing_token = p_fencing_token
    and s.owner = p_owner
    and s.lane = 0
    and s.ordering_key is null
    and s.cancel_requested_at is null
    and s.due_at > clock_timestamp()
  returning s.* into r;
  if not found then
    r := leasehold.take_lease(p_job_id, p_owner, p_fencing_token);
    if r.job_id is null then
      select e.next_state, j.queue, j.ordering_key is not null
      into outcome, queue, keyed
      from leasehold.ended_attempt(p_job_id, p_owner, p_fencing_token, 'succeeded') e
      join leasehold.jobs j on j.id = p_job_id;
      if p_raise and outcome is not null then
        raise exception using errcode = 'LH005', message = 'already_completed: this attempt has succeeded before';
      elsif p_raise then
        raise exception using errcode = 'LH004', message = 'lease_lost: another attempt may hold this job';
      end if;
      if outcome is null then
        outcome := 'lease_lost';
        perform leasehold.note_lost_report(p_job_id, p_owner, p_fencing_token, 'complete');
      end if;
      return;
    end if;
    if r.cancel_requested_at is not null then
      outcome := 'cancelled';
    else
      delete from leasehold.job_state s where s.job_id = r.job_id;
    end if;
  end if;

  queue := r.queue;
  keyed := r.ordering_key is not null;
  v_now := clock_timestamp();
  insert into leasehold.attempts
    (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state)
  values (r.job_id, r.fencing_token, r.attempt, r.owner, r.started_at, v_now, 'succeeded', outcome);
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  values (r.job_id, v_now, 'completed', r.owner, r.fencing_token, jsonb_build_object('attempt', r.attempt));
  if outcome = 'cancelled' then
    perform leasehold.end_cancelled(r, r.cancel_requested_by, r.cancel_reason, p_result, p_result_problem);
    return;
  end if;
  insert into leasehold.finished_jobs
    (job_id, state, attempt, fencing_token, finished_at, finished_by, result, result_problem)
  values (r.job_id, 'succeeded', r.attempt, r.fencing_token, v_now, r.owner, p_result, left(p_result_problem, 200));
  if r.ordering_key is not null then
    perform leasehold.unpark(r.queue, r.ordering_key, r.owner);
  end if;
end
$$;
