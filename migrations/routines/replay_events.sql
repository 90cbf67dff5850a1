-- leasehold.replay_events: a person lets quarantined events be tried again, with fresh attempts.
--
--   p_event_ids  a JSON array of 1 to 100 ids
--   p_reason     1 to 1000 characters, for the log
--   p_actor      who decides, 1 to 200 characters
--
-- Returns a row an event: replayed, or not_quarantined, then nothing was changed. The events behind it in its aggregate
-- follow once it is out. Raises LH001. Example: select * from leasehold.replay_events('["…"]', 'Schema fixed.', 'ana');
create or replace function leasehold.replay_events(p_event_ids jsonb, p_reason text, p_actor text)
returns table (event_id uuid, outcome text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_id uuid;
begin
  perform leasehold.check_chosen('event_ids', p_event_ids, 100, p_reason, p_actor);
  for v_id in select distinct i.id::uuid from jsonb_array_elements_text(p_event_ids) i (id) order by 1 loop
    update leasehold.outbox_holds h
    set attempt = 0, due_at = clock_timestamp(), quarantined_at = null
    where h.event_id = v_id and h.quarantined_at is not null;
    if not found then
      return query select v_id, 'not_quarantined';
      continue;
    end if;
    insert into leasehold.outbox_log (event_id, type, actor, details)
    values (v_id, 'replayed', p_actor, jsonb_build_object('reason', p_reason));
    return query select v_id, 'replayed';
  end loop;
end
$$;
