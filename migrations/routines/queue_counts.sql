-- leasehold.queue_counts: how many jobs of one queue there are of each kind; each count stops at p_cap + 1, which means "more
-- than p_cap". Internal: overview and metrics call it.
--   due, delayed      pending, claimable now or later; parked: behind their ordering key
--   running, expired  leased; of these close_to_expiry have less than a third of their lease left, which a holder that
--                     sends heartbeats never has
create or replace function leasehold.queue_counts(p_queue text, p_now timestamptz, p_cap int)
returns table (
  due bigint,
  delayed bigint,
  parked bigint,
  running bigint,
  close_to_expiry bigint,
  expired bigint,
  dead bigint,
  escalated bigint
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
      select least(count(*), p_cap + 1)
      from (values (1::smallint), (2), (3), (4)) l (lane)
      cross join lateral (
        select 1
        from leasehold.job_state s
        where s.queue = p_queue and s.lane = l.lane and s.due_at <= p_now
        order by s.due_at
        limit p_cap + 1
      ) one
    ),
    (
      select least(count(*), p_cap + 1)
      from (values (1::smallint), (2), (3), (4)) l (lane)
      cross join lateral (
        select 1
        from leasehold.job_state s
        where s.queue = p_queue and s.lane = l.lane and s.due_at > p_now
        order by s.due_at
        limit p_cap + 1
      ) one
    ),
    (
      select count(*)
      from (
        select 1 from leasehold.job_state s where s.queue = p_queue and s.lane = 9 order by s.due_at limit p_cap + 1
      ) one
    ),
    leased.running,
    leased.close_to_expiry,
    (
      select count(*)
      from (
        select 1
        from leasehold.job_state s
        where s.queue = p_queue and s.lane = 0 and s.due_at <= p_now
        order by s.due_at
        limit p_cap + 1
      ) one
    ),
    (
      select count(*)
      from (
        select 1
        from leasehold.dead_letters d
        where d.queue = p_queue and d.state = 'dead'
        order by d.dead_at
        limit p_cap + 1
      ) one
    ),
    (
      select count(*)
      from (
        select 1
        from leasehold.dead_letters d
        where d.queue = p_queue and d.state = 'escalated'
        order by d.dead_at
        limit p_cap + 1
      ) one
    )
  from (
    select
      count(*) as running,
      count(*) filter (where lease.due_at < p_now + make_interval(secs => lease.lease_seconds / 3.0)) as close_to_expiry
    from (
      select s.due_at, s.lease_seconds
      from leasehold.job_state s
      where s.queue = p_queue and s.lane = 0 and s.due_at > p_now
      order by s.due_at
      limit p_cap + 1
    ) lease
  ) leased;
end
$$;
