-- leasehold.past_job_document: one job as it was at an instant, from the event log alone: the last transition up to then says
-- in which state it was, and since when. Null when the job was not there yet. Internal: board_at calls it.
--
-- What changes no state is passed over, and so is what a person did with an escalated job that they held: it was escalated all
-- the time. A lease that had run out by then and that nobody had settled is a pending job, as it is in the present.
create or replace function leasehold.past_job_document(j leasehold.jobs, p_at timestamptz) returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  s leasehold.job_events;
  c leasehold.job_events;
  h leasehold.job_events;
  v_state text;
  v_lease_end timestamptz;
begin
  select e.* into s
  from leasehold.job_events e
  where e.job_id = j.id
    and e.at <= p_at
    and (
      e.type in (
        'created', 'completed', 'failed', 'dead', 'escalated', 'snoozed', 'cancelled', 'redriven', 'discarded'
      )
      or e.type in ('claimed', 'released', 'lease_expired') and e.details ->> 'lane' is distinct from 'human'
    )
  order by e.id desc
  limit 1;
  if not found then
    return null;
  end if;
  v_state := case s.type
    when 'claimed' then 'running'
    when 'completed' then 'succeeded'
    when 'dead' then 'dead'
    when 'escalated' then 'escalated'
    when 'cancelled' then 'cancelled'
    when 'discarded' then 'cancelled'
    else 'pending'
  end;
  -- The claim that the state came of, unless the budgets are fresh since.
  if s.type in ('claimed', 'redriven') then
    c := s;
  else
    select e.* into c
    from leasehold.job_events e
    where e.job_id = j.id
      and e.id < s.id
      and (e.type = 'redriven' or e.type = 'claimed' and e.details ->> 'lane' is distinct from 'human')
    order by e.id desc
    limit 1;
  end if;
  if v_state in ('running', 'escalated') then
    -- Who held it, and how far they were.
    select e.* into h
    from leasehold.job_events e
    where e.job_id = j.id
      and e.id > s.id
      and e.at <= p_at
      and (
        e.type in ('heartbeat', 'progressed')
        or e.type in ('claimed', 'released', 'lease_expired') and e.details ->> 'lane' = 'human'
      )
    order by e.id desc
    limit 1;
    if h.id is null and v_state = 'running' then
      h := s;
    end if;
    v_lease_end := case
      when h.type = 'claimed' then h.at + make_interval(secs => (h.details ->> 'lease_seconds')::int)
      else (h.details ->> 'lease_expires_at')::timestamptz
    end;
    if v_state = 'running' and v_lease_end <= p_at then
      v_state := 'pending';
    end if;
  end if;
  return jsonb_build_object(
    'id', j.id,
    'queue', j.queue,
    'type', j.type,
    'state', v_state,
    'since', leasehold.iso(case when v_state = 'pending' and s.type = 'claimed' then v_lease_end else s.at end),
    'event', s.type,
    'reason', s.details ->> 'reason',
    'attempt', case
      when s.details ? 'attempt' then (s.details ->> 'attempt')::int
      when c.type = 'claimed' then (c.details ->> 'attempt')::int - (s.type in ('snoozed', 'released'))::int
      else 0
    end,
    'fencing_token', s.fencing_token::text,
    'owner', case when v_lease_end > p_at then h.actor end,
    'progress', case when v_state = 'running' then h.details ->> 'progress' end,
    'ordering_key', j.ordering_key,
    'tags', coalesce(to_jsonb(j.tags), '[]'),
    'created_at', leasehold.iso(j.created_at),
    'created_by', j.created_by
  );
end
$$;
