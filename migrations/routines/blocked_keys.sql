-- leasehold.blocked_keys: ordering keys of a queue with jobs that wait, and what they wait for, the longest lines by key.
--   p_queue  the queue;  p_after  the last key of the page before, or null;  p_limit  1 to 200
-- Returns a row a key: ordering_key, waiting (counted up to 1,000), and the job in front with its state: a dead or escalated
-- one blocks the key until it is settled. Example: select * from leasehold.blocked_keys('billing', null, 50);
create or replace function leasehold.blocked_keys(p_queue text, p_after text, p_limit int)
returns table (ordering_key text, waiting int, blocked_by uuid, blocked_by_state text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with recursive parked (key) as (
    (
      select s.ordering_key
      from leasehold.job_state s
      where s.queue = p_queue and s.ordering_key is not null and s.ordering_key > coalesce(p_after, '')
      order by s.ordering_key
      limit 1
    )
    union all
    select (
      select s.ordering_key
      from leasehold.job_state s
      where s.queue = p_queue and s.ordering_key > parked.key
      order by s.ordering_key
      limit 1
    )
    from parked
    where parked.key is not null
  )
  select
    p.key,
    w.waiting,
    coalesce(d.job_id, o.job_id),
    case
      when d.job_id is not null then d.state
      when o.lane = 0 and o.due_at > clock_timestamp() then 'running'
      when o.job_id is not null then 'pending'
    end
  from parked p
  cross join lateral (
    select count(*)::int
    from (
      select 1
      from leasehold.job_state s
      where s.queue = p_queue and s.ordering_key = p.key and s.lane = 9
      limit 1000
    ) counted
  ) w (waiting)
  left join lateral (
    select l.job_id, l.state
    from leasehold.dead_letters l
    where l.queue = p_queue and l.blocks_key = p.key
    order by l.dead_at
    limit 1
  ) d on true
  left join lateral (
    select s.job_id, s.lane, s.due_at
    from leasehold.job_state s
    where s.queue = p_queue and s.ordering_key = p.key and s.lane < 9
    order by s.lane, s.key_seq
    limit 1
  ) o on true
  where p.key is not null and w.waiting > 0
  limit least(greatest(p_limit, 1), 200)
$$;
