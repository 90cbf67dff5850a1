-- leasehold.usable_floors: the newest floors of a queue's lanes, or no row while none are in force: no row is there, the
-- newest is over a minute old, or says that none are needed. One that lies in the future (the clock stepped back) comes
-- without floors. Internal.
create or replace function leasehold.usable_floors(p_queue text, p_now timestamptz)
returns setof leasehold.claim_floors
language sql
stable
as $$
  select
    n.id, n.queue, n.at, case when n.at <= p_now then n.floors end, n.next_xid, n.suspects, n.full_at, n.full_entries
  from (select f.* from leasehold.claim_floors f where f.queue = p_queue order by f.id desc limit 1) n
  where n.at > p_now or n.at >= p_now - interval '1 minute' and n.floors is not null
$$;
