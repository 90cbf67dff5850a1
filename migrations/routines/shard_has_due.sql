-- leasehold.shard_has_due: has a shard of the outbox an event to publish, or a hold to look after? Four index probes at most.
-- A commit below the shard's floor by a writer that has ended counts as due. Internal.
create or replace function leasehold.shard_has_due(s leasehold.outbox_shards, p_now timestamptz)
returns boolean
language sql
stable
as $$
  select
    exists (select 1 from leasehold.outbox_pending p where p.shard = s.shard and p.lane = 1 and p.position >= s.floor)
    or exists (select 1 from leasehold.outbox_holds h where h.shard = s.shard and h.due_at <= p_now)
    or exists (select 1 from leasehold.outbox_holds h
      where h.shard = s.shard and h.due_at is null and h.quarantined_at is null)
    or exists (select 1 from unnest(s.suspects) u (xid) where pg_visible_in_snapshot(u.xid, pg_current_snapshot()))
      and exists (select 1 from leasehold.outbox_pending p where p.shard = s.shard and p.lane = 1)
$$;
