-- leasehold.queue_heads: the first instants of one queue, each from the head of an index. Internal: overview and metrics call it.
--   first_due_at        when the first pending job is due or was; jobs behind an ordering key do not count
--   first_lease_end_at  when the first lease ends or ended
--   oldest_dead_at, oldest_escalated_at
create or replace function leasehold.queue_heads(p_queue text)
returns table (
  first_due_at timestamptz,
  first_lease_end_at timestamptz,
  oldest_dead_at timestamptz,
  oldest_escalated_at timestamptz
)
language plpgsql
stable
rows 1
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return query
  select
    (
      select min(head.due_at)
      from (values (1::smallint), (2), (3), (4)) l (lane)
      cross join lateral (
        select s.due_at from leasehold.job_state s where s.queue = p_queue and s.lane = l.lane order by s.due_at limit 1
      ) head
    ),
    (select s.due_at from leasehold.job_state s where s.queue = p_queue and s.lane = 0 order by s.due_at limit 1),
    (select d.dead_at from leasehold.dead_letters d where d.queue = p_queue and d.state = 'dead' order by d.dead_at limit 1),
    (
      select d.dead_at
      from leasehold.dead_letters d
      where d.queue = p_queue and d.state = 'escalated'
      order by d.dead_at
      limit 1
    );
end
$$;
