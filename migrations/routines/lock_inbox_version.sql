-- leasehold.lock_inbox_version: the newest version of an aggregate that a consumer has applied, 0 for none. The row stays
-- locked until the commit, so that versions are applied, and parked, one after another. Internal.
create or replace function leasehold.lock_inbox_version(
  p_consumer text,
  p_sender text,
  p_aggregate_type text,
  p_aggregate_id text
) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_version bigint;
begin
  insert into leasehold.inbox_versions (consumer, sender, aggregate_type, aggregate_id, version)
  values (p_consumer, p_sender, p_aggregate_type, p_aggregate_id, 0)
  on conflict (consumer, sender, aggregate_type, aggregate_id) do nothing;
  select v.version into v_version
  from leasehold.inbox_versions v
  where v.consumer = p_consumer
    and v.sender = p_sender
    and v.aggregate_type = p_aggregate_type
    and v.aggregate_id = p_aggregate_id
  for no key update;
  return v_version;
end
$$;
