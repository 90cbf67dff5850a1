-- leasehold.job_history: the event log of one job, oldest first. A job's transitions wait for each other, so the order of
-- their ids is the order in which they were committed, and a reader that goes on after the last one misses nothing.
--
--   p_job_id  the job
--   p_after   the id of the last event that was read ("j7"), or null for the beginning
--   p_limit   1 to 200
--
-- Returns {"events": [...], "next_after": id or null when this was all}; null when there is no such job. Raises LH001.
-- Example: select leasehold.job_history('…', null, 200);
create or replace function leasehold.job_history(p_job_id uuid, p_after text, p_limit int)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_horizon constant xid8 := pg_snapshot_xmin(pg_current_snapshot());
  v_after bigint := 0;
  v_page jsonb;
begin
  if p_limit is null or p_limit not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'limit: must be between 1 and 200';
  end if;
  if p_after is not null then
    if p_after !~ '^j[0-9]{1,18}$' then
      raise exception using errcode = 'LH001', message = 'after: must be the id of an event of this job';
    end if;
    v_after := substr(p_after, 2)::bigint;
  end if;
  select jsonb_build_object(
    'events', coalesce(
      jsonb_agg(
        leasehold.log_event(
          'j', e.id, e.xact_id, e.xact_id < v_horizon, e.job_id, j.queue, j.type, e.type, e.actor, e.at, e.fencing_token,
          e.details
        )
        order by e.id
      ) filter (where e.id is not null),
      '[]'
    ),
    'next_after', case when count(e.id) = p_limit then 'j' || max(e.id) end
  )
  into v_page
  from leasehold.jobs j
  left join lateral (
    select * from leasehold.job_events x where x.job_id = j.id and x.id > v_after order by x.id limit p_limit
  ) e on true
  where j.id = p_job_id
  group by j.id;
  return v_page;
end
$$;
