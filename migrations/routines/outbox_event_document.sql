-- leasehold.outbox_event_document: an event with its state, as lists show it, without payload and headers. States: pending;
-- held (its own last try failed, or it waits behind the event held_by); quarantined; published; skipped. Internal.
create or replace function leasehold.outbox_event_document(e leasehold.outbox_events) returns jsonb
language sql
stable
as $$
  select jsonb_build_object(
    'id', e.id,
    'state', case
      when p.event_id is not null then p.outcome
      when h.event_id = e.id and h.quarantined_at is not null then 'quarantined'
      when h.event_id is not null and (h.event_id = e.id or e.position > h.released_position) then 'held'
      else 'pending'
    end,
    'aggregate_type', e.aggregate_type,
    'aggregate_id', e.aggregate_id,
    'version', e.version,
    'type', e.type,
    'schema_version', e.schema_version,
    'occurred_at', leasehold.iso(e.occurred_at),
    'created_at', leasehold.iso(e.created_at),
    'created_by', e.created_by,
    'attempts', coalesce(p.attempts, case when h.event_id = e.id then h.attempt end, 0),
    'last_error', case when h.event_id = e.id then h.last_error end,
    'retry_at', case when h.event_id = e.id and p.event_id is null then leasehold.iso(h.due_at) end,
    'held_by', case when h.event_id <> e.id and e.position > h.released_position and p.event_id is null then h.event_id end,
    'done_at', leasehold.iso(p.at),
    'done_by', p.by,
    'payload_dropped_at', leasehold.iso(e.payload_dropped_at)
  )
  from (select) one
  left join leasehold.outbox_published p on p.event_id = e.id
  left join leasehold.outbox_holds h
    on h.aggregate_type = e.aggregate_type and h.aggregate_id = e.aggregate_id
      and (h.due_at is not null or h.quarantined_at is not null)
$$;
