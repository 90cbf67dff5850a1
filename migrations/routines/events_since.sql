-- leasehold.events_since: a feed of all events for readers that keep a cursor. No event is ever skipped: the feed ends below
-- the oldest transaction that is still running, so that one long transaction delays what comes after it and loses nothing.
--
--   p_cursor  the cursor of the last event that was read, or null for the beginning
--   p_limit   1 to 500 events; fewer come when their payloads are more than 4 MiB as text
--
-- Order: by transaction, and within one as they were appended. Producers of one aggregate commit in the order of their
-- versions, but a transaction that began before another and got the aggregate after it comes first here: go by the versions.
-- Returns the events, each with its cursor; no row: nothing new yet. Raises LH001.
-- Example: select * from leasehold.events_since(null, 100);
create or replace function leasehold.events_since(p_cursor text, p_limit int)
returns table (
  cursor text,
  event_id uuid,
  aggregate_type text,
  aggregate_id text,
  version bigint,
  type text,
  schema_version int,
  payload jsonb,
  headers jsonb,
  occurred_at timestamptz,
  created_at timestamptz,
  payload_dropped_at timestamptz
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_xact xid8;
  v_position bigint;
begin
  if p_limit is null or p_limit not between 1 and 500 then
    raise exception using errcode = 'LH001', message = 'limit: must be between 1 and 500';
  end if;
  if p_cursor !~ '^[0-9]{1,19}_[0-9]{1,18}$' then
    raise exception using errcode = 'LH001', message = 'cursor: must be the cursor of an event';
  end if;
  v_xact := coalesce(split_part(p_cursor, '_', 1), '0')::xid8;
  v_position := coalesce(split_part(p_cursor, '_', 2), '0')::bigint;
  return query
  select
    format('%s_%s', b.xact_id, b.position), b.id, b.aggregate_type, b.aggregate_id, b.version, b.type, b.schema_version,
    b.payload, b.headers, b.occurred_at, b.created_at, b.payload_dropped_at
  from (
    select
      e.*,
      row_number() over (order by e.xact_id, e.position) as ord,
      sum(octet_length(e.payload::text)) over (order by e.xact_id, e.position) as bytes
    from (
      select *
      from leasehold.outbox_events o
      where (o.xact_id, o.position) > (v_xact, v_position) and o.xact_id < pg_snapshot_xmin(pg_current_snapshot())
      order by o.xact_id, o.position
      limit p_limit
    ) e
  ) b
  where b.ord = 1 or coalesce(b.bytes, 0) <= 4194304
  order by b.ord;
end
$$;
