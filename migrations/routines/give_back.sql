-- leasehold.give_back: what snooze and release share: the attempt ends without being spent. Internal.
create or replace function leasehold.give_back(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_outcome text,
  p_delay_ms bigint,
  p_reason text
)
returns table (outcome text, due_at timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_due_at timestamptz;
  v_state text := 'pending';
  r leasehold.job_state;
begin
  r := leasehold.take_lease(p_job_id, p_owner, p_fencing_token);
  v_now := clock_timestamp();
  if r.job_id is null then
    return query
    select e.next_state, e.retry_at from leasehold.ended_attempt(p_job_id, p_owner, p_fencing_token, p_outcome) e;
    if not found then
      perform leasehold.note_lost_report(p_job_id, p_owner, p_fencing_token,
        case p_outcome when 'snoozed' then 'snooze' else 'release' end);
      return query select 'lease_lost', null::timestamptz;
    end if;
    return;
  end if;
  if r.cancel_requested_at is not null then
    v_state := 'cancelled';
  else
    v_due_at := v_now + make_interval(secs => p_delay_ms / 1000.0);
    if r.ordering_key is not null then
      v_due_at := coalesce(
        (select leasehold.key_start_at(q, r.ordering_key, v_due_at) from leasehold.queues q where q.name = r.queue),
        v_due_at
      );
    end if;
  end if;
  insert into leasehold.attempts
    (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state, retry_at)
  values (r.job_id, r.fencing_token, r.attempt, r.owner, r.started_at, v_now, p_outcome, v_state, v_due_at);
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  values (r.job_id, v_now, p_outcome, r.owner, r.fencing_token,
    jsonb_build_object('reason', left(p_reason, 1000), 'due_at', leasehold.iso(v_due_at)));
  if v_state = 'cancelled' then
    perform leasehold.end_cancelled(r, r.cancel_requested_by, r.cancel_reason);
  else
    perform leasehold.put_back(r.job_id, greatest(v_due_at, clock_timestamp()), r.attempt - 1, r.unknown_failures,
      r.lease_expiries);
    if p_delay_ms > 0 then
      -- As a later due time does: what was asked for does not use up the time for retries.
      update leasehold.job_state s
      set retry_until = s.retry_until + make_interval(secs => p_delay_ms / 1000.0)
      where s.job_id = r.job_id;
    end if;
  end if;
  return query select v_state, v_due_at;
end
$$;
