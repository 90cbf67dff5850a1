-- leasehold.early_log: rows of both event logs that are committed and lie above the oldest running transaction, but those that
-- an earlier snapshot saw already. Found by index from where that snapshot ends, and in the transactions that it saw running:
-- a transaction that runs for an hour does not make every look walk an hour of the log. Internal: log_changes calls it.
--
--   p_seen   the snapshot up to which they were given
--   p_limit  rows at most, by transaction
--
-- Returns one row: the events as the API shows them, the first and the last transaction among them, and whether there may
-- be more. Example: select * from leasehold.early_log(pg_current_snapshot(), 100);
create or replace function leasehold.early_log(
  p_seen pg_snapshot,
  p_limit int,
  out events jsonb,
  out first_xact xid8,
  out last_xact xid8,
  out full_page boolean
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
declare
  v_horizon constant xid8 := pg_snapshot_xmin(pg_current_snapshot());
  v_from constant xid8 := greatest(v_horizon, pg_snapshot_xmax(p_seen));
begin
  select
    coalesce(
      jsonb_agg(
        leasehold.log_event(
          e.kind, e.id, e.xact_id, false, e.job_id, coalesce(e.queue, j.queue), j.type, e.type, e.actor, e.at,
          e.fencing_token, e.details
        )
        order by e.xact_id, e.kind collate "C", e.id
      ),
      '[]'
    ),
    min(e.xact_id),
    max(e.xact_id),
    count(*) = p_limit
  into events, first_xact, last_xact, full_page
  from (
    select *
    from (
      (
        select 'j' as kind, a.id, a.xact_id, a.job_id, null::text as queue, a.at, a.type, a.actor, a.fencing_token, a.details
        from leasehold.job_events a
        where a.xact_id >= v_from
        order by a.xact_id, a.id
        limit p_limit
      )
      union all
      (
        select 'q', q.id, q.xact_id, null, q.queue, q.at, q.type, q.actor, null, q.details
        from leasehold.queue_events q
        where q.xact_id >= v_from
        order by q.xact_id, q.id
        limit p_limit
      )
      union all
      select 'j', b.id, b.xact_id, b.job_id, null, b.at, b.type, b.actor, b.fencing_token, b.details
      from pg_snapshot_xip(p_seen) x
      cross join lateral (
        select * from leasehold.job_events y where y.xact_id = x and x >= v_horizon order by y.id limit p_limit
      ) b
      union all
      select 'q', c.id, c.xact_id, null, c.queue, c.at, c.type, c.actor, null, c.details
      from pg_snapshot_xip(p_seen) x
      cross join lateral (
        select * from leasehold.queue_events y where y.xact_id = x and x >= v_horizon order by y.id limit p_limit
      ) c
    ) l
    order by l.xact_id, l.kind collate "C", l.id
    limit p_limit
  ) e
  left join leasehold.jobs j on j.id = e.job_id;
end
$$;
