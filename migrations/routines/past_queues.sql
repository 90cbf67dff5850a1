-- leasehold.past_queues: the queues that there were at an instant, and which of them were paused, from the log of the queues.
-- At most 200, by name. Internal: board_at calls it.
--
--   p_queue   this one alone, or null
--   p_queues  a JSON list: these alone, or null
create or replace function leasehold.past_queues(p_at timestamptz, p_queue text, p_queues jsonb) returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(q.document order by q.name), '[]')
  from (
    select
      n.name,
      jsonb_build_object(
        'name', n.name,
        'paused', case
          when s.type = 'paused' then
            jsonb_build_object('since', leasehold.iso(s.at), 'by', s.actor, 'reason', s.details ->> 'reason')
        end
      ) as document
    from leasehold.queues n
    left join lateral (
      select e.type, e.at, e.actor, e.details
      from leasehold.queue_events e
      where e.queue = n.name and e.type in ('paused', 'resumed') and e.at <= p_at
      order by e.id desc
      limit 1
    ) s on true
    where n.created_at <= p_at
      and (p_queue is null or n.name = p_queue)
      and (p_queues is null or p_queues ? n.name)
    order by n.name
    limit 200
  ) q
$$;
