-- leasehold.shard_has_due: has a shard of the outbox an event to publish, or a hold to look after? Four index probes at most.
-- A commit below the shard's floor by a writer that has ended counts as due. Each probe asks in the order of its index, so
-- that no other one will do. Internal.
create or replace function leasehold.shard_has_due(s leasehold.outbox_shards, p_now timestamptz)
returns boolean
language sql
stable
as $$
  select
    (select p.position from leasehold.outbox_pending p
      where p.shard = s.shard and p.lane = 1 and p.position >= s.floor order by p.position limit 1) is not null
    or (select h.due_at from leasehold.outbox_holds h
      where h.shard = s.shard and h.due_at <= p_now order by h.due_at limit 1) is not null
    or (select h.position from leasehold.outbox_holds h
      where h.shard = s.shard and h.due_at is null and h.quarantined_at is null order by h.position limit 1) is not null
    or exists (select 1 from unnest(s.suspects) u (xid) where pg_visible_in_snapshot(u.xid, pg_current_snapshot()))
      and (select p.position from leasehold.outbox_pending p
        where p.shard = s.shard and p.lane = 1 order by p.position limit 1) is not null
$$;
