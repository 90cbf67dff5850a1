-- leasehold.live_queues: the names of the queues with live jobs, in order. Walks the claim index from queue to queue: the cost
-- grows with queues, never with their depth. Internal: due_queues and next_wake call it.
create or replace function leasehold.live_queues()
returns setof text
language sql
stable
as $$
  with recursive live (queue) as (
    (select s.queue from leasehold.job_state s order by s.queue limit 1)
    union all
    select (select s.queue from leasehold.job_state s where s.queue > live.queue order by s.queue limit 1)
    from live
    where live.queue is not null
  )
  select live.queue from live where live.queue is not null
$$;
