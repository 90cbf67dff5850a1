-- leasehold.due_queues: which queues have work for the drain, the longest waiting first.
--
--   p_limit      at most this many queues
--   p_per_queue  count at most this many due jobs a queue and lane
--   p_served     names of the queues that the caller has handlers for, a JSON array; null: all
--
-- Of a queue that the caller neither has handlers for nor pushes only expired leases are its business: without that rule, a
-- thousand queues that wait for somebody else would fill the answer and hide the caller's own for ever. Served ones come
-- first.
--
-- Walks the claim index from queue to queue: the cost grows with queues that have live jobs, never with their depth.
-- Paused and resting queues are left out. Returns queue, due (jobs claimable now, capped), expired (leases among them,
-- capped), oldest_due_at, weight, delivery and target_url.
-- Example: select * from leasehold.due_queues(100, 10, '["emails"]');
create or replace function leasehold.due_queues(p_limit int, p_per_queue int, p_served jsonb default null)
returns table (
  queue text,
  due int,
  expired int,
  oldest_due_at timestamptz,
  weight int,
  delivery text,
  target_url text
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
  select
    live.queue, heads.due, heads.expired, heads.oldest_due_at, coalesce(q.weight, 1), coalesce(q.delivery, 'handler'),
    q.target_url
  from leasehold.live_queues() live (queue)
  left join leasehold.queues q on q.name = live.queue
  cross join lateral (select leasehold.is_served(live.queue, q.delivery, p_served)) ours (served)
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
  where heads.due > 0
    and (heads.expired > 0 or ours.served)
    and q.paused_at is null
    and (q.push_resume_at is null or q.push_resume_at <= statement_timestamp())
  order by ours.served desc, heads.oldest_due_at
  limit p_limit
$$;
