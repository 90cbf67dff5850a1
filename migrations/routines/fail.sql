-- leasehold.fail: ends the attempt as failed; the job is retried with backoff, is dead, or goes to a person.
--
--   p_job_id, p_owner, p_fencing_token  the lease, unexpired
--   p_error           what went wrong: {"code": …, "message": …, …}, up to 8 KiB; more is cut down to code and message
--   p_class           permanent: no further attempt can help, dead at once. transient: a time-out, 429 or 5xx, the full
--                     budget of attempts. unknown (default): a small budget of its own
--   p_retry_after_ms  what the other side asked for; honoured up to the queue's longest backoff, and never sooner than the
--                     backoff itself
--
-- Returns one row: pending with the instant of the next attempt; dead; escalated; cancelled when the job had been called off;
-- or lease_lost (nothing changed). No retry starts after the job's retry budget. In a queue that escalates nothing dies of
-- failures: whatever would kill a job hands it to a person, and so does failure number escalate_after, whatever its class,
-- which takes the place of the budget for unknown ones. Repeated after a lost answer it gives the first answer again: the
-- attempt's outcome is on record.
-- Example: select * from leasehold.fail('…', 'worker-7', 3, '{"code": "timeout", "message": "…"}', 'transient');
create or replace function leasehold.fail(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_error jsonb,
  p_class text default 'unknown',
  p_retry_after_ms bigint default null
)
returns table (outcome text, due_at timestamptz, more_due boolean)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_code text := left(coalesce(p_error ->> 'code', 'unknown'), 100);
  v_retry_at timestamptz;
  v_reason text;
  v_state text := 'pending';
  v_unknown_failures int;
  v_escalates_after int;
  q leasehold.queues;
  r leasehold.job_state;
begin
  if p_class is null or p_class not in ('permanent', 'transient', 'unknown') then
    raise exception using errcode = 'LH001', message = 'class: must be permanent, transient or unknown';
  end if;
  if jsonb_typeof(p_error) is distinct from 'object' then
    p_error := jsonb_build_object('code', v_code, 'message', left(coalesce(p_error #>> '{}', ''), 2000));
  elsif pg_column_size(p_error) > 16384 then
    p_error := jsonb_build_object('code', v_code, 'message', left(p_error ->> 'message', 2000), 'truncated', true);
  end if;

  r := leasehold.take_lease(p_job_id, p_owner, p_fencing_token);
  v_now := clock_timestamp();
  if r.job_id is null then
    return query
    select e.next_state, e.retry_at, e.more_due
    from leasehold.ended_attempt(p_job_id, p_owner, p_fencing_token, 'failed') e;
    if not found then
      perform leasehold.note_lost_report(p_job_id, p_owner, p_fencing_token, 'fail');
      return query select 'lease_lost', null::timestamptz, false;
    end if;
    return;
  end if;

  v_unknown_failures := r.unknown_failures + (p_class = 'unknown')::int;
  select * into q from leasehold.queues where name = r.queue;
  v_escalates_after := leasehold.escalates_after(q, r.job_id);
  v_retry_at := v_now;
  if q.name is not null then
    v_retry_at := greatest(
      v_now + greatest(
        leasehold.retry_delay(r.attempt, q.backoff_base_ms, q.backoff_cap_ms, random()),
        make_interval(secs => least(greatest(p_retry_after_ms, 0), q.backoff_cap_ms) / 1000.0)
      ),
      clock_timestamp()
    );
  end if;
  if r.cancel_requested_at is not null then
    v_state := 'cancelled';
  elsif p_class = 'permanent' then
    v_reason := 'permanent_failure';
  elsif r.attempt >= v_escalates_after then
    v_reason := 'failures_used_up';
  elsif r.attempt >= r.max_attempts then
    v_reason := 'attempts_used_up';
  elsif v_escalates_after is null and p_class = 'unknown' and v_unknown_failures >= r.max_unknown_attempts then
    v_reason := 'unknown_failures_used_up';
  else
    if r.ordering_key is not null then
      -- A start like any other under the rate of its key.
      v_retry_at := coalesce(leasehold.key_start_at(q, r.ordering_key, v_retry_at), v_retry_at);
    end if;
    if v_retry_at > r.retry_until then
      v_reason := 'retry_budget_used_up';
    end if;
  end if;
  if v_reason is not null then
    v_state := case when v_escalates_after is null then 'dead' else 'escalated' end;
  end if;
  if v_state <> 'pending' then
    v_retry_at := null;
  end if;

  insert into leasehold.attempts
    (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state, retry_at, error_code, error,
      failure_class)
  values (r.job_id, r.fencing_token, r.attempt, r.owner, r.started_at, v_now, 'failed', v_state, v_retry_at, v_code,
    p_error, p_class);
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  values (r.job_id, v_now, 'failed', r.owner, r.fencing_token,
    jsonb_build_object('attempt', r.attempt, 'code', v_code, 'class', p_class, 'retry_at', leasehold.iso(v_retry_at)));

  case v_state
    when 'cancelled' then perform leasehold.end_cancelled(r, r.cancel_requested_by, r.cancel_reason);
    when 'pending' then perform leasehold.put_back(r.job_id, v_retry_at, r.attempt, v_unknown_failures, 0);
    else perform leasehold.bury(r, v_now, r.owner, v_reason, p_error, v_state);
  end case;
  return query select v_state, v_retry_at, leasehold.has_due(r.queue, clock_timestamp());
end
$$;
