-- leasehold.due_queues: which queues have work for the drain, the longest waiting first.
--
--   p_limit      at most this many queues
--   p_per_queue  count at most this many due jobs a queue and lane
--   p_served     names of the queues that the caller serves, a JSON array; null: all
--
-- Of a queue that the caller does not serve only expired leases are its business: without that rule, a thousand queues
-- that wait for somebody else would fill the answer and hide the caller's own for ever. Served queues come first.
--
-- Walks the claim index from queue to queue: the cost grows with queues that have live jobs, never with their depth.
-- Returns queue, due (jobs claimable now, capped), expired (leases among them, capped) and oldest_due_at.
-- Example: select * from leasehold.due_queues(100, 10, '["emails"]');
create or replace function leasehold.due_queues(p_limit int, p_per_queue int, p_served jsonb default null)
returns table (queue text, due int, expired int, oldest_due_at timestamptz)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
  with recursive live (queue) as (
    (select s.queue from leasehold.job_state s order by s.queue limit 1)
    union all
    select (select s.queue from leasehold.job_state s where s.queue > live.queue order by s.queue limit 1)
    from live
    where live.queue is not null
  )
  select live.queue, heads.due, heads.expired, heads.oldest_due_at
  from live
  cross join lateral (
    select
      least(count(*), p_per_queue)::int,
      (count(*) filter (where head.lane = 0))::int,
      min(head.due_at)
    from (values (0::smallint), (1), (2), (3), (4)) l (lane)
    cross join lateral (
      select l.lane, s.due_at
      from leasehold.job_state s
      where s.queue = live.queue and s.lane = l.lane and s.due_at <= statement_timestamp()
      order by s.due_at
      limit p_per_queue
    ) head
  ) heads (due, expired, oldest_due_at)
  where live.queue is not null
    and heads.due > 0
    and (heads.expired > 0 or p_served is null or p_served ? live.queue)
  order by p_served is null or p_served ? live.queue desc, heads.oldest_due_at
  limit p_limit
$$;
