-- leasehold.park_event: keeps an event that came before its predecessors, until a consumer with the strict policy asks.
--
--   p_consumer, p_event_id, p_aggregate_type, p_aggregate_id, p_version, p_sender  as for leasehold.accept_event
--   p_event   the whole event as JSON, up to 4 MiB as jsonb
--
-- Returns the first version that is missing before it; null when none is any more: then apply the event now. Parking it again
-- changes nothing. Raises LH001. Example: select leasehold.park_event('inventory', '…', 'order', '42', 5, '{…}');
create or replace function leasehold.park_event(
  p_consumer text,
  p_event_id text,
  p_aggregate_type text,
  p_aggregate_id text,
  p_version bigint,
  p_event jsonb,
  p_sender text default ''
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_applied bigint;
  v_missing bigint;
  v_problem text;
begin
  v_problem := coalesce(
    leasehold.new_receipt_problem(
      p_consumer, p_sender, p_event_id, p_aggregate_type, p_aggregate_id, p_version, 'strict'
    ),
    case
      when p_event is null or pg_column_size(p_event) > 4194304
        then 'event: give the event as JSON of at most 4194304 bytes as jsonb'
    end
  );
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;

  -- Nobody applies a version of this aggregate meanwhile, so the event cannot be parked behind one that has just gone by.
  v_applied := leasehold.lock_inbox_version(p_consumer, p_sender, p_aggregate_type, p_aggregate_id);
  if p_version <= v_applied + 1 then
    return null;
  end if;
  insert into leasehold.inbox_parked
    (consumer, sender, aggregate_type, aggregate_id, version, event_id, event, parked_at)
  values
    (p_consumer, p_sender, p_aggregate_type, p_aggregate_id, p_version, p_event_id, p_event, clock_timestamp())
  on conflict (consumer, sender, aggregate_type, aggregate_id, version) do nothing;
  return v_applied + 1;
end
$$;
