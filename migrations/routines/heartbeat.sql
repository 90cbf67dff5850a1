-- leasehold.heartbeat: extends a lease with proof of progress, or tells that it is lost.
--
--   p_job_id, p_owner, p_fencing_token  the lease
--   p_step           an acknowledged step, counted by the holder; it must grow to renew
--   p_progress       a progress marker for people, up to 200 characters; a marker that moved renews as well
--   p_lease_seconds  1 to 3600 from now (default: as claimed)
--
-- Returns one row: held with the expiry in force, or lease_lost. Without new evidence, as in a repeat after a lost
-- answer, the expiry stays as it is. A renewal never passes the run deadline and never shortens a lease.
-- cancel_requested tells the holder that the job was called off: stop, and report; whatever is reported ends it cancelled.
-- Raises LH001. Example: select * from leasehold.heartbeat('…', 'worker-7', 3, 4, '40 of 100 rows');
create or replace function leasehold.heartbeat(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_step bigint,
  p_progress text default null,
  p_lease_seconds int default null
)
returns table (outcome text, lease_expires_at timestamptz, lease_remaining_ms bigint, cancel_requested boolean)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_now timestamptz;
  r leasehold.job_state;
  v_moved boolean;
begin
  if char_length(p_progress) > 200 then
    raise exception using errcode = 'LH001', message = 'progress: give at most 200 characters';
  end if;
  if p_lease_seconds not between 1 and 3600 then
    raise exception using errcode = 'LH001', message = 'lease_seconds: must be between 1 and 3600';
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
  if not found then
    perform leasehold.note_lost_report(p_job_id, p_owner, p_fencing_token, 'heartbeat');
    return query select 'lease_lost', null::timestamptz, null::bigint, false;
    return;
  end if;

  v_moved := p_progress is not null and p_progress is distinct from r.progress;
  if v_moved or p_step > r.step then
    update leasehold.job_state s
    set due_at = least(
        greatest(s.due_at, v_now + make_interval(secs => coalesce(p_lease_seconds, s.lease_seconds))),
        s.run_deadline_at
      ),
      step = greatest(s.step, p_step),
      progress = coalesce(p_progress, s.progress)
    where s.job_id = p_job_id
    returning s.* into r;
    insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
    values (p_job_id, v_now, case when v_moved then 'progressed' else 'heartbeat' end, p_owner, p_fencing_token,
      jsonb_build_object('step', p_step, 'progress', r.progress, 'lease_expires_at', leasehold.iso(r.due_at)));
  end if;

  return query
  select 'held', r.due_at, floor(extract(epoch from r.due_at - v_now) * 1000)::bigint, r.cancel_requested_at is not null;
end
$$;
