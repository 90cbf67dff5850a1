-- leasehold.overview: how the queues fare, the one that waits longest first, from bounded reads.
--   p_queues  a JSON array: only these, for a caller who may not learn of others; null: all
--   p_limit   1 to 200 queues are told of in full (default 200). Of up to 1,000, by name, the oldest work is compared
--
-- Returns {"at", "queues": [...], "left_out": queues not told of}. Of each queue: name, paused, delivery, resting_until,
-- concurrency_limit; counts {"count", "capped"} that stop at 1,000: due, delayed, parked, running, leases_close_to_expiry,
-- expired, dead, escalated; instants or null: oldest_due_at, next_due_at, oldest_expired_at, oldest_dead_at,
-- oldest_escalated_at; and series {"from", "step_seconds", "succeeded": [...], "failed": [...]}: attempts that ended so in
-- each step from then until now. The series covers the last hour, or the time of the newest 10,000 events if that is less.
-- Raises LH001. Example: select leasehold.overview('["emails"]');
create or replace function leasehold.overview(p_queues jsonb default null, p_limit int default 200)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_cap constant int := 1000;
  v_most_events constant int := 10000;
  v_considered constant int := 1000;
  v_now timestamptz := statement_timestamp();
  v_from timestamptz := v_now - interval '1 hour';
  v_step int;
  v_steps int;
  v_events leasehold.job_events[];
  v_there bigint;
  v_queues jsonb;
begin
  if p_limit is null or p_limit not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'limit: must be between 1 and 200';
  end if;

  -- Steps of a round length, sixty at most, that end now.
  v_events := array(select e from leasehold.newest_events(v_from, v_most_events) e);
  if cardinality(v_events) = v_most_events then
    v_from := v_events[v_most_events].at;
  end if;
  select min(s.step) into v_step from unnest(array[1, 2, 5, 10, 20, 30, 60]) s (step)
  where s.step * 60 >= extract(epoch from v_now - v_from);
  v_step := coalesce(v_step, 60);
  v_steps := greatest(1, floor(extract(epoch from v_now - v_from) / v_step))::int;
  v_from := v_now - make_interval(secs => v_steps * v_step);

  select count(*)
  into v_there
  from leasehold.queues q
  where p_queues is null or p_queues ? q.name;

  with considered as (
    select q.*
    from leasehold.queues q
    where p_queues is null or p_queues ? q.name
    order by q.name
    limit v_considered
  ),
  chosen as (
    select
      q.*, h.*,
      row_number() over (
        order by
          least(
            case when h.first_due_at <= v_now then h.first_due_at end,
            case when h.first_lease_end_at <= v_now then h.first_lease_end_at end
          ) nulls last,
          least(h.oldest_escalated_at, h.oldest_dead_at) nulls last,
          q.name
      ) as place
    from considered q
    cross join lateral leasehold.queue_heads(q.name) h
  ),
  ended as (
    select
      j.queue,
      least(floor(extract(epoch from e.at - v_from) / v_step)::int, v_steps - 1) as step,
      count(*) filter (where e.type = 'completed') as succeeded,
      count(*) filter (where e.type <> 'completed') as failed
    from unnest(v_events) e
    join leasehold.jobs j on j.id = e.job_id
    where e.type in ('completed', 'failed', 'lease_expired') and e.at >= v_from
    group by 1, 2
  )
  select jsonb_agg(
    jsonb_build_object(
      'name', q.name,
      'paused', case
        when q.paused_at is not null then
          jsonb_build_object('since', leasehold.iso(q.paused_at), 'by', q.paused_by, 'reason', q.pause_reason)
      end,
      'delivery', q.delivery,
      'resting_until', case when q.push_resume_at > v_now then leasehold.iso(q.push_resume_at) end,
      'concurrency_limit', q.concurrency_limit,
      'due', leasehold.capped(c.due, v_cap),
      'delayed', leasehold.capped(c.delayed, v_cap),
      'parked', leasehold.capped(c.parked, v_cap),
      'running', leasehold.capped(c.running, v_cap),
      'leases_close_to_expiry', leasehold.capped(c.close_to_expiry, v_cap),
      'expired', leasehold.capped(c.expired, v_cap),
      'dead', leasehold.capped(c.dead, v_cap),
      'escalated', leasehold.capped(c.escalated, v_cap),
      'oldest_due_at', case when q.first_due_at <= v_now then leasehold.iso(q.first_due_at) end,
      'next_due_at', case when q.first_due_at > v_now then leasehold.iso(q.first_due_at) end,
      'oldest_expired_at', case when q.first_lease_end_at <= v_now then leasehold.iso(q.first_lease_end_at) end,
      'oldest_dead_at', leasehold.iso(q.oldest_dead_at),
      'oldest_escalated_at', leasehold.iso(q.oldest_escalated_at),
      'series', jsonb_build_object(
        'from', leasehold.iso(v_from),
        'step_seconds', v_step,
        'succeeded', series.succeeded,
        'failed', series.failed
      )
    )
    order by q.place
  )
  into v_queues
  from chosen q
  cross join lateral leasehold.queue_counts(q.name, v_now, v_cap) c
  cross join lateral (
    select
      jsonb_agg(coalesce(e.succeeded, 0) order by n.step) as succeeded,
      jsonb_agg(coalesce(e.failed, 0) order by n.step) as failed
    from generate_series(0, v_steps - 1) n (step)
    left join ended e on e.queue = q.name and e.step = n.step
  ) series
  where q.place <= p_limit;

  return jsonb_build_object(
    'at', leasehold.iso(v_now),
    'queues', coalesce(v_queues, '[]'),
    'left_out', v_there - jsonb_array_length(coalesce(v_queues, '[]'))
  );
end
$$;
