-- leasehold.raise_outbox_floor: moves the floor of a shard up to where its pending events begin, and returns it.
--
-- While an old snapshot is open, vacuum cannot remove the entries of published events at the head of the shard; from the
-- floor on a claim does not walk them. The rule is that of leasehold.refresh_claim_floors: a producer has its transaction id
-- before it draws a position, and p_base is the newest position from before this transaction had its own id. So whoever has
-- an id from next_xid of the row before on lies above its floor_base; older ones that still write are suspects until a read
-- from 0 on has ruled them out. (The end of a snapshot would not do for next_xid: it may lie below ids that are given out.)
-- Such a read is made when a suspect has ended, and every ten seconds at most otherwise. The caller has locked the shard's
-- row. Internal: claim_events calls it.
create or replace function leasehold.raise_outbox_floor(s leasehold.outbox_shards, p_now timestamptz, p_base bigint)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_floor bigint;
  v_snapshot pg_snapshot;
  v_full boolean;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return 0;
  end if;
  v_full := s.full_at > p_now
    or s.full_at < p_now - interval '10 seconds'
    or exists (select 1 from unnest(s.suspects) u (xid) where pg_visible_in_snapshot(u.xid, pg_current_snapshot()));
  select
    pg_current_snapshot(),
    least(s.floor_base, (select p.position from leasehold.outbox_pending p
      where p.shard = s.shard and p.lane = 1 and p.position >= case when v_full then 0 else s.floor end
      order by p.position limit 1))
  into v_snapshot, v_floor;
  update leasehold.outbox_shards h
  set floor = v_floor,
    floor_base = p_base,
    next_xid = pg_current_xact_id(),
    suspects = array(select x.xid from pg_snapshot_xip(v_snapshot) x (xid) where x.xid < s.next_xid),
    full_at = case when v_full then p_now else s.full_at end
  where h.shard = s.shard;
  return v_floor;
end
$$;
