-- leasehold.settled_log: rows of both event logs after a cursor, in the order of (transaction, id), job events before queue
-- events. It ends below the oldest transaction that is still running: what commits late lies behind it, so that a reader with
-- a cursor never skips a row. Internal: job_events_since and log_changes call it.
--
--   p_cursor  the cursor of the last event that was read, or null for the beginning
--   p_limit   rows at most
--
-- A row of a job that retention has taken has no queue and no job type. Raises LH001 for what is no cursor of this database.
-- Example: select * from leasehold.settled_log(null, 100);
create or replace function leasehold.settled_log(p_cursor text, p_limit int)
returns table (
  kind text,
  id bigint,
  xact_id xid8,
  job_id uuid,
  queue text,
  job_type text,
  at timestamptz,
  type text,
  actor text,
  fencing_token bigint,
  details jsonb
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_horizon constant xid8 := pg_snapshot_xmin(pg_current_snapshot());
  v_xact xid8 := '0';
  v_job_event bigint := 0;
  v_queue_event bigint := 0;
begin
  if p_cursor is not null then
    select p.xact, p.job_event, p.queue_event into v_xact, v_job_event, v_queue_event from leasehold.log_place(p_cursor) p;
    if v_xact > v_horizon then
      raise exception using errcode = 'LH001', message = 'cursor: is not of this database';
    end if;
  end if;
  return query
  select
    l.kind, l.id, l.xact_id, l.job_id, coalesce(l.queue, j.queue), j.type, l.at, l.type, l.actor, l.fencing_token, l.details
  from (
    (
      select 'j' as kind, e.id, e.xact_id, e.job_id, null::text as queue, e.at, e.type, e.actor, e.fencing_token, e.details
      from leasehold.job_events e
      where (e.xact_id, e.id) > (v_xact, v_job_event) and e.xact_id < v_horizon
      order by e.xact_id, e.id
      limit p_limit
    )
    union all
    (
      select 'q', q.id, q.xact_id, null::uuid, q.queue, q.at, q.type, q.actor, null::bigint, q.details
      from leasehold.queue_events q
      where (q.xact_id, q.id) > (v_xact, v_queue_event) and q.xact_id < v_horizon
      order by q.xact_id, q.id
      limit p_limit
    )
  ) l
  left join leasehold.jobs j on j.id = l.job_id
  order by l.xact_id, l.kind collate "C", l.id
  limit p_limit;
end
$$;
