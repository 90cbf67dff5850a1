-- leasehold.skip_events: a person decides that quarantined events are never published; their aggregates go on behind them.
--
--   p_event_ids  a JSON array of 1 to 100 ids
--   p_reason     1 to 1000 characters, for the log
--   p_actor      who decides, 1 to 200 characters
--
-- Returns a row an event: skipped, or not_quarantined, then nothing was changed. Consumers see a gap in the versions.
-- Raises LH001. Example: select * from leasehold.skip_events('["…"]', 'Test data.', 'ana');
create or replace function leasehold.skip_events(p_event_ids jsonb, p_reason text, p_actor text)
returns table (event_id uuid, outcome text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_id uuid;
  h leasehold.outbox_holds;
begin
  perform leasehold.check_chosen('event_ids', p_event_ids, 100, p_reason, p_actor);
  for v_id in select distinct i.id::uuid from jsonb_array_elements_text(p_event_ids) i (id) order by 1 loop
    update leasehold.outbox_holds o
    set due_at = null, quarantined_at = null
    where o.event_id = v_id and o.quarantined_at is not null
    returning o.* into h;
    if not found then
      return query select v_id, 'not_quarantined';
      continue;
    end if;
    delete from leasehold.outbox_pending p where p.shard = h.shard and p.lane in (1, 9) and p.position = h.position;
    insert into leasehold.outbox_published (event_id, outcome, at, attempts, by)
    values (v_id, 'skipped', clock_timestamp(), h.attempt, p_actor);
    insert into leasehold.outbox_log (event_id, type, actor, details)
    values (v_id, 'skipped', p_actor, jsonb_build_object('reason', p_reason));
    return query select v_id, 'skipped';
  end loop;
end
$$;
