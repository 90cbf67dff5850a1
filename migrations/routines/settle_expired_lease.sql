-- leasehold.settle_expired_lease: what becomes of one expired lease, whose row the caller has locked.
-- Internal: claim and settle call it. The attempt ends as lease_expired, then:
--   dead     attempts are used up: the job moves to the dead letters
--   pending  it expired before: back to its lane with backoff, so that a job which kills its function cannot spin
--   claim    the first expiry: the caller may claim it at once; nothing is moved here
create or replace function leasehold.settle_expired_lease(r leasehold.job_state, p_now timestamptz, p_actor text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_next text;
  v_retry_at timestamptz;
  v_error jsonb := jsonb_build_object(
    'code', 'lease_expired',
    'message', format('Attempt %s of %s ended without a word: its lease ran out at %s.', r.attempt, r.max_attempts,
      leasehold.iso(r.due_at))
  );
begin
  if r.attempt >= r.max_attempts then
    v_next := 'dead';
  elsif r.lease_expiries = 0 then
    v_next := 'claim';
    v_retry_at := p_now;
  else
    v_next := 'pending';
    select p_now + leasehold.retry_delay(r.attempt, q.backoff_base_ms, q.backoff_cap_ms, random())
    into v_retry_at
    from leasehold.queues q
    where q.name = r.queue;
    v_retry_at := greatest(v_retry_at, clock_timestamp());
  end if;

  insert into leasehold.attempts
    (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state, retry_at, error_code, error)
  values
    (r.job_id, r.fencing_token, r.attempt, r.owner, r.started_at, p_now, 'lease_expired',
      case v_next when 'dead' then 'dead' else 'pending' end, v_retry_at, 'lease_expired', v_error);
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  values (r.job_id, p_now, 'lease_expired', p_actor, r.fencing_token,
    jsonb_build_object('attempt', r.attempt, 'owner', r.owner));

  if v_next = 'dead' then
    delete from leasehold.job_state where job_id = r.job_id;
    insert into leasehold.dead_letters (job_id, queue, reason, error, attempt, fencing_token, dead_at)
    values (r.job_id, r.queue, 'lease_expired', v_error, r.attempt, r.fencing_token, p_now);
    insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
    values (r.job_id, p_now, 'dead', p_actor, r.fencing_token, jsonb_build_object('reason', 'lease_expired'));
  elsif v_next = 'pending' then
    update leasehold.job_state
    set lane = home_lane,
      due_at = v_retry_at,
      owner = null,
      claim_id = null,
      started_at = null,
      run_deadline_at = null,
      lease_seconds = null,
      lease_expiries = lease_expiries + 1
    where job_id = r.job_id;
  end if;
  return v_next;
end
$$;
