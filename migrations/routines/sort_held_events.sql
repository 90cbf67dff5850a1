-- leasehold.sort_held_events: sets the events of held aggregates aside (lane 9) where they stand at the head of a shard, and
-- takes those of ended holds back, in their order, at most 500 of an aggregate each call.
--
-- Returns the floor in force: what comes back lies below the shard's floor, so the floor goes down with it; and is_free:
-- whether the p_limit + 1 first events of lane 1 are free. They are not while more than 20,000 stand before them that had to
-- be set aside in one call; the next call goes on. The caller has locked the shard's row. Internal: claim_events calls it.
create or replace function leasehold.sort_held_events(s leasehold.outbox_shards, p_limit int)
returns table (floor bigint, is_free boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_at_once constant int := 500;
  v_rounds constant int := 40;
  -- What is to be moved is found first and moved by its positions: the planner could turn a join around.
  v_positions bigint[];
  h leasehold.outbox_holds;
begin
  floor := s.floor;
  is_free := true;
  if (select o.position from leasehold.outbox_holds o where o.shard = s.shard order by o.position limit 1) is null then
    return next;
    return;
  end if;

  -- A hold with neither a time nor a quarantine has ended: its events come back, the oldest first; then it goes.
  for h in
    select o.*
    from leasehold.outbox_holds o
    where o.shard = s.shard and o.due_at is null and o.quarantined_at is null
    order by o.position
    limit 10
  loop
    v_positions := array(
      select b.position
      from leasehold.outbox_pending b
      where b.aggregate_type = h.aggregate_type and b.aggregate_id = h.aggregate_id and b.lane = 9
      order by b.position
      limit v_at_once
    );
    update leasehold.outbox_pending p
    set lane = 1
    where p.shard = s.shard and p.lane = 9 and p.position = any (v_positions);
    floor := least(floor, v_positions[1]);
    if cardinality(v_positions) < v_at_once then
      delete from leasehold.outbox_holds o
      where o.aggregate_type = h.aggregate_type and o.aggregate_id = h.aggregate_id;
    else
      update leasehold.outbox_holds o
      set released_position = v_positions[v_at_once]
      where o.aggregate_type = h.aggregate_type and o.aggregate_id = h.aggregate_id;
    end if;
  end loop;
  update leasehold.outbox_shards o set floor = sort_held_events.floor where o.shard = s.shard and o.floor > sort_held_events.floor;

  -- Again while something was set aside: what stands behind it may be held as well.
  for i in 1 .. v_rounds loop
    v_positions := array(
      select d.position
      from (
        select p.position, p.aggregate_type, p.aggregate_id
        from leasehold.outbox_pending p
        where p.shard = s.shard and p.lane = 1 and p.position >= sort_held_events.floor
        order by p.position
        limit case when i = 1 then p_limit + 1 else greatest(p_limit + 1, v_at_once) end
      ) d
      where d.position > (
        select o.released_position
        from leasehold.outbox_holds o
        where o.aggregate_type = d.aggregate_type and o.aggregate_id = d.aggregate_id
      )
    );
    is_free := cardinality(v_positions) = 0;
    exit when is_free;
    update leasehold.outbox_pending p
    set lane = 9
    where p.shard = s.shard and p.lane = 1 and p.position = any (v_positions);
  end loop;
  return next;
end
$$;
