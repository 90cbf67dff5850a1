-- leasehold.park_event: keeps an event that came before its predecessors, until a consumer with the strict policy asks.
--
--   p_consumer, p_event_id, p_aggregate_type, p_aggregate_id, p_version  as for leasehold.accept_event
--   p_event   the whole event as JSON, up to 4 MiB
--
-- Returns the first version that is missing before it; null when none is any more: then apply the event now. Parking it again
-- changes nothing. Raises LH001. Example: select leasehold.park_event('inventory', '…', 'order', '42', 5, '{…}');
create or replace function leasehold.park_event(
  p_consumer text,
  p_event_id text,
  p_aggregate_type text,
  p_aggregate_id text,
  p_version bigint,
  p_event jsonb
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_applied bigint;
begin
  if p_event is null or pg_column_size(p_event) > 4194304 then
    raise exception using errcode = 'LH001', message = 'event: give the event as JSON of at most 4194304 bytes';
  end if;
  if p_version is null or p_version < 1 then
    raise exception using errcode = 'LH001', message = 'version: must be 1 or more';
  end if;
  -- Nobody applies a version of this aggregate meanwhile, so the event cannot be parked behind one that has just gone by.
  insert into leasehold.inbox_versions (consumer, aggregate_type, aggregate_id, version)
  values (p_consumer, p_aggregate_type, p_aggregate_id, 0)
  on conflict (consumer, aggregate_type, aggregate_id) do nothing;
  select v.version into v_applied
  from leasehold.inbox_versions v
  where v.consumer = p_consumer and v.aggregate_type = p_aggregate_type and v.aggregate_id = p_aggregate_id
  for no key update;
  if p_version <= v_applied + 1 then
    return null;
  end if;
  insert into leasehold.inbox_parked (consumer, aggregate_type, aggregate_id, version, event_id, event, parked_at)
  values (p_consumer, p_aggregate_type, p_aggregate_id, p_version, p_event_id, p_event, clock_timestamp())
  on conflict (consumer, aggregate_type, aggregate_id, version) do nothing;
  return v_applied + 1;
end
$$;
