-- leasehold.edit_job: changes when a pending job is due, or its priority.
--
--   p_job_id    the job
--   p_due_at    an instant up to 366 days ahead, the past means now; null leaves it
--   p_priority  urgent, high, normal or low; null leaves it
--   p_actor     who changes it, 1 to 200 characters
--
-- Returns one word: edited, not_pending (it runs or has ended) or not_found. Raises LH001.
-- Example: select leasehold.edit_job('…', now() + interval '1 hour', null, 'maria');
create or replace function leasehold.edit_job(
  p_job_id uuid,
  p_due_at timestamptz,
  p_priority text,
  p_actor text
)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lane smallint := leasehold.priority_lane(p_priority);
  r leasehold.job_state;
begin
  if p_actor is null or char_length(p_actor) not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'actor: give 1 to 200 characters';
  end if;
  if p_priority is not null and v_lane is null then
    raise exception using errcode = 'LH001', message = 'priority: must be urgent, high, normal or low';
  end if;
  if p_due_at > clock_timestamp() + interval '366 days' then
    raise exception using errcode = 'LH001', message = 'due_at: must be at most 366 days ahead';
  end if;
  perform leasehold.lock_keys_of(array[p_job_id]);
  select s.* into r from leasehold.job_state s where s.job_id = p_job_id for no key update;
  if r.job_id is null or r.lane = 0 then
    if exists (select 1 from leasehold.jobs j where j.id = p_job_id) then
      return 'not_pending';
    end if;
    return 'not_found';
  end if;
  if p_due_at is not null and r.lane < 9 and r.ordering_key is not null then
    -- No sooner than the rate of its key allows.
    select leasehold.key_start_at(q, r.ordering_key, greatest(p_due_at, clock_timestamp()))
    into p_due_at
    from leasehold.queues q
    where q.name = r.queue;
  end if;
  update leasehold.job_state s
  set home_lane = coalesce(v_lane, s.home_lane),
    lane = case when s.lane = 9 then 9 else coalesce(v_lane, s.lane) end,
    due_at = greatest(coalesce(p_due_at, s.due_at), clock_timestamp()),
    retry_until = s.retry_until + greatest(interval '0', coalesce(p_due_at, s.due_at) - s.due_at)
  where s.job_id = p_job_id
  returning s.* into r;
  insert into leasehold.job_events (job_id, type, actor, fencing_token, details)
  values (p_job_id, 'edited', p_actor, r.fencing_token,
    jsonb_build_object('due_at', leasehold.iso(r.due_at), 'priority', leasehold.lane_priority(r.home_lane)));
  return 'edited';
end
$$;
