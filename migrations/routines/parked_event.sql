-- leasehold.parked_event: the parked event that a consumer may apply next for an aggregate; no row while its predecessor is
-- missing. Ask again after each that was applied. Accepting an event takes it, and those before it, out of the parking place.
-- Example: select * from leasehold.parked_event('inventory', 'order', '42');
create or replace function leasehold.parked_event(
  p_consumer text,
  p_aggregate_type text,
  p_aggregate_id text,
  p_sender text default ''
)
returns table (event_id text, version bigint, event jsonb)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select k.event_id, k.version, k.event
  from leasehold.inbox_versions v
  join leasehold.inbox_parked k
    on k.consumer = v.consumer and k.sender = v.sender and k.aggregate_type = v.aggregate_type
      and k.aggregate_id = v.aggregate_id and k.version = v.version + 1
  where v.consumer = p_consumer
    and v.sender = p_sender
    and v.aggregate_type = p_aggregate_type
    and v.aggregate_id = p_aggregate_id
$$;
