-- leasehold.next_wake: the next instant at which the drain has something to do that it has not now; null: nothing waits for
-- a time. The drain arms one timer with it and then leaves the database alone.
--
--   p_served  names of the queues that the caller has handlers for, a JSON array; null: all
--
-- What counts: jobs of served and pushed queues that become due, those parked behind a key included, since the end of the
-- job in front tells nobody when the next one is due; leases that run out, in every queue; a resting push target that may
-- be tried again; due work of a queue whose starts are used up, when it may start again; the next slot of a schedule.
-- Paused queues wait for a person. Walks the claim index as due_queues does: the cost grows with queues, never with depth.
-- Example: select leasehold.next_wake('["emails"]');
create or replace function leasehold.next_wake(p_served jsonb default null)
returns timestamptz
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
  select least(
    (
      select min(
        case when q.push_resume_at > statement_timestamp() then q.push_resume_at
          else least(waiting.due_at, starts.again_at) end
      )
      from leasehold.live_queues() live (queue)
      left join leasehold.queues q on q.name = live.queue
      cross join lateral (select leasehold.is_served(live.queue, q.delivery, p_served)) ours (served)
      cross join lateral (
        select min(head.due_at)
        from (values (0::smallint), (1), (2), (3), (4), (9)) l (lane)
        cross join lateral (
          select s.due_at
          from leasehold.job_state s
          where s.queue = live.queue and s.lane = l.lane and s.due_at > statement_timestamp()
          order by s.due_at
          limit 1
        ) head
        where l.lane = 0 or ours.served
      ) waiting (due_at)
      left join lateral (
        -- The start that leaves the window last: with it inside, the window is full.
        select r.at + make_interval(secs => q.rate_interval_ms / 1000.0)
        from leasehold.rate_starts r
        where q.rate_limit is not null
          and ours.served
          and r.queue = live.queue
          and r.key is null
          and r.at > statement_timestamp() - make_interval(secs => q.rate_interval_ms / 1000.0)
          and leasehold.has_due(live.queue, statement_timestamp())
        order by r.at desc
        offset q.rate_limit - 1
        limit 1
      ) starts (again_at) on true
      where q.paused_at is null
    ),
    (
      select c.next_slot_at
      from leasehold.schedules c
      where c.paused_at is null and c.next_slot_at > statement_timestamp()
      order by c.next_slot_at
      limit 1
    )
  )
$$;
