-- leasehold.settle_expired_lease: what becomes of one expired lease, whose row the caller has locked.
-- Internal: claim and settle call it. The attempt ends as lease_expired, then:
--   cancelled  it was called off while it ran
--   dead       attempts or the retry budget are used up: the job moves to the dead letters
--   escalated  the same in a queue that escalates, and the failure that its setting escalate_after names: a person's turn
--   pending    it expired before: back to its lane with backoff, so that a job which kills its function cannot spin
--   claim      the first expiry: the caller may claim it at once; nothing is moved here
--   busy       its ordering key is held by someone else at this instant: nothing is changed, it stays due. Keys are locked
--              before rows elsewhere; here the row came first, so this side gives way instead of deadlocking
create or replace function leasehold.settle_expired_lease(r leasehold.job_state, p_now timestamptz, p_actor text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_next text;
  v_retry_at timestamptz;
  v_escalates_after int;
  v_reason text := 'lease_expired';
  q leasehold.queues;
  v_error jsonb := jsonb_build_object(
    'code', 'lease_expired',
    'message', format('Attempt %s of %s ended without a word: its lease ran out at %s.', r.attempt, r.max_attempts,
      leasehold.iso(r.due_at))
  );
begin
  select * into q from leasehold.queues where name = r.queue;
  v_escalates_after := leasehold.escalates_after(q, r.job_id);
  if r.cancel_requested_at is not null then
    v_next := 'cancelled';
  elsif r.attempt >= v_escalates_after then
    v_next := 'escalated';
    v_reason := 'failures_used_up';
  elsif r.attempt >= r.max_attempts or p_now > r.retry_until then
    v_next := 'dead';
  elsif r.lease_expiries = 0 then
    v_next := 'claim';
    v_retry_at := p_now;
  else
    v_next := 'pending';
    v_retry_at := greatest(
      p_now + leasehold.retry_delay(r.attempt, q.backoff_base_ms, q.backoff_cap_ms, random()), clock_timestamp()
    );
    if v_retry_at > r.retry_until then
      v_next := 'dead';
      v_retry_at := null;
    end if;
  end if;
  if v_next = 'dead' and v_escalates_after is not null then
    v_next := 'escalated';
  end if;
  if r.ordering_key is not null and (v_next in ('cancelled', 'dead', 'escalated') or q.key_rate_limit is not null)
    and not pg_try_advisory_xact_lock(leasehold.key_lock_id('ordering', r.queue, r.ordering_key))
  then
    return 'busy';
  end if;
  if r.ordering_key is not null and v_next in ('claim', 'pending') then
    -- A start like any other under the rate of its key.
    v_retry_at := leasehold.key_start_at(q, r.ordering_key, v_retry_at);
    if v_retry_at > clock_timestamp() then
      v_next := 'pending';
    end if;
  end if;

  insert into leasehold.attempts
    (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state, retry_at, error_code, error,
      failure_class)
  values
    (r.job_id, r.fencing_token, r.attempt, r.owner, r.started_at, p_now, 'lease_expired',
      case v_next when 'claim' then 'pending' else v_next end, v_retry_at, 'lease_expired', v_error, 'transient');
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  values (r.job_id, p_now, 'lease_expired', p_actor, r.fencing_token,
    jsonb_build_object('attempt', r.attempt, 'owner', r.owner));

  case v_next
    when 'cancelled' then
      perform leasehold.end_cancelled(r, r.cancel_requested_by, r.cancel_reason);
    when 'dead', 'escalated' then
      perform leasehold.bury(r, p_now, p_actor, v_reason, v_error, v_next);
    when 'pending' then
      perform leasehold.put_back(r.job_id, v_retry_at, r.attempt, r.unknown_failures, r.lease_expiries + 1);
    else
      null;
  end case;
  return v_next;
end
$$;
