-- leasehold.get_outbox_event: everything about one event: envelope, state, payload, headers, and its log, oldest first: tries
-- that failed, quarantine, replays, skips. has_payload is false for an event without a body. Null when no event has this id.
-- Example: select leasehold.get_outbox_event('…');
create or replace function leasehold.get_outbox_event(p_event_id uuid) returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select leasehold.outbox_event_document(e)
    || jsonb_build_object(
      'has_payload', e.payload is not null,
      'payload', e.payload,
      'headers', e.headers,
      'log', (
        select coalesce(
          jsonb_agg(
            jsonb_build_object('at', leasehold.iso(l.at), 'type', l.type, 'actor', l.actor, 'details', l.details)
            order by l.id
          ),
          '[]'
        )
        from (select * from leasehold.outbox_log g where g.event_id = e.id order by g.id desc limit 200) l
      )
    )
  from leasehold.outbox_events e
  where e.id = p_event_id
$$;
