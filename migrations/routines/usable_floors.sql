-- leasehold.usable_floors: the newest floors of a queue's lanes, or no row while none are in force: no row is there, the
-- newest is over a minute old, lies in the future (the clock stepped back), or says that none are needed. Internal.
create or replace function leasehold.usable_floors(p_queue text, p_now timestamptz)
returns setof leasehold.claim_floors
language sql
stable
as $$
  select n.*
  from (select f.* from leasehold.claim_floors f where f.queue = p_queue order by f.id desc limit 1) n
  where n.at between p_now - interval '1 minute' and p_now and n.floors is not null
$$;
