-- leasehold.fail: ends the attempt as failed; the job is retried with backoff, or is dead.
--
--   p_job_id, p_owner, p_fencing_token  the lease, unexpired
--   p_error      what went wrong: {"code": …, "message": …, …}, up to 16 KiB as jsonb; more is cut down to code and message
--   p_retryable  false: no further attempt can help, dead at once
--
-- Returns one row: pending with the instant of the next attempt, dead, or lease_lost (nothing changed).
-- Repeated after a lost answer it gives the first answer again: the attempt's outcome is on record.
-- Example: select * from leasehold.fail('…', 'worker-7', 3, '{"code": "timeout", "message": "…"}', true);
create or replace function leasehold.fail(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_error jsonb,
  p_retryable boolean default true
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
  r leasehold.job_state;
begin
  if jsonb_typeof(p_error) is distinct from 'object' then
    p_error := jsonb_build_object('code', v_code, 'message', left(coalesce(p_error #>> '{}', ''), 2000));
  elsif pg_column_size(p_error) > 16384 then
    p_error := jsonb_build_object('code', v_code, 'message', left(p_error ->> 'message', 2000), 'truncated', true);
  end if;

  select s.* into r
  from leasehold.job_state s
  where s.job_id = p_job_id
    and s.fencing_token = p_fencing_token
    and s.owner = p_owner
    and s.lane = 0
    and s.due_at > clock_timestamp()
  for no key update;
  v_now := clock_timestamp();

  if r.job_id is null then
    return query
    select a.next_state, a.retry_at, leasehold.has_due(j.queue, v_now)
    from leasehold.attempts a
    join leasehold.jobs j on j.id = a.job_id
    where a.job_id = p_job_id
      and a.fencing_token = p_fencing_token
      and a.owner = p_owner
      and a.outcome = 'failed';
    if not found then
      return query select 'lease_lost', null::timestamptz, false;
    end if;
    return;
  end if;

  if not coalesce(p_retryable, true) then
    v_reason := 'permanent_failure';
  elsif r.attempt >= r.max_attempts then
    v_reason := 'attempts_used_up';
  else
    select v_now + leasehold.retry_delay(r.attempt, q.backoff_base_ms, q.backoff_cap_ms, random())
    into v_retry_at
    from leasehold.queues q
    where q.name = r.queue;
    v_retry_at := greatest(v_retry_at, clock_timestamp());
  end if;

  insert into leasehold.attempts
    (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state, retry_at, error_code, error)
  values (r.job_id, r.fencing_token, r.attempt, r.owner, r.started_at, v_now, 'failed',
    case when v_reason is null then 'pending' else 'dead' end, v_retry_at, v_code, p_error);
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  values (r.job_id, v_now, 'failed', r.owner, r.fencing_token,
    jsonb_build_object('attempt', r.attempt, 'code', v_code, 'retry_at', leasehold.iso(v_retry_at)));

  if v_reason is null then
    update leasehold.job_state s
    set lane = s.home_lane,
      due_at = v_retry_at,
      owner = null,
      claim_id = null,
      started_at = null,
      run_deadline_at = null,
      lease_seconds = null,
      lease_expiries = 0
    where s.job_id = r.job_id;
    return query select 'pending', v_retry_at, leasehold.has_due(r.queue, v_now);
  else
    delete from leasehold.job_state s where s.job_id = r.job_id;
    insert into leasehold.dead_letters (job_id, queue, reason, error, attempt, fencing_token, dead_at)
    values (r.job_id, r.queue, v_reason, p_error, r.attempt, r.fencing_token, v_now);
    insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
    values (r.job_id, v_now, 'dead', r.owner, r.fencing_token, jsonb_build_object('reason', v_reason));
    return query select 'dead', null::timestamptz, leasehold.has_due(r.queue, v_now);
  end if;
end
$$;
