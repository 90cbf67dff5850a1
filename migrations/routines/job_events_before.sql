-- leasehold.job_events_before: the event log of all jobs and queues, the newest first, for who wants to see what has happened
-- lately. What is committed above the oldest running transaction is told as well, with a null cursor.
--
--   p_cursor  next_cursor of the page before, or null for the newest
--   p_filter  a JSON object, any of: queue, queues (a list: events of these alone), actor, type
--   p_limit   1 to 200
--
-- With a filter it looks at 2,000 events a call at most, so a page may be short, or empty, and still not be the last: go on
-- until next_cursor is null. Returns {"events": [...], "next_cursor": text or null}. Raises LH001.
-- Example: select leasehold.job_events_before(null, '{"queue": "emails", "type": "dead"}', 50);
create or replace function leasehold.job_events_before(p_cursor text, p_filter jsonb, p_limit int)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue text := p_filter ->> 'queue';
  v_queues jsonb := p_filter -> 'queues';
  v_actor text := p_filter ->> 'actor';
  v_type text := p_filter ->> 'type';
  v_scan int;
  v_page jsonb;
begin
  if p_limit is null or p_limit not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'limit: must be between 1 and 200';
  end if;
  v_scan := case when coalesce(v_queue, v_queues::text, v_actor, v_type) is null then p_limit else 2000 end;
  with seen as materialized (
    select l.*, row_number() over () as ord from leasehold.newest_log(p_cursor, v_scan) l
  ), found as materialized (
    select *
    from seen s
    where (v_queue is null or s.queue = v_queue)
      and (v_queues is null or v_queues ? s.queue)
      and (v_actor is null or s.actor = v_actor)
      and (v_type is null or s.type = v_type)
    order by s.ord
    limit p_limit
  ), last as (
    select f.xact_id, f.kind, f.id from found f where f.ord = (select max(ord) from found having count(*) = p_limit)
    union all
    select s.xact_id, s.kind, s.id from seen s where s.ord = (select max(ord) from seen having count(*) = v_scan)
    limit 1
  )
  select jsonb_build_object(
    'events', coalesce(
      (
        select jsonb_agg(
          leasehold.log_event(
            f.kind, f.id, f.xact_id, f.settled, f.job_id, f.queue, f.job_type, f.type, f.actor, f.at, f.fencing_token, f.details
          )
          order by f.ord
        )
        from found f
      ),
      '[]'
    ),
    'next_cursor', (select format('%s_%s%s', xact_id, kind, id) from last)
  )
  into v_page;
  return v_page;
end
$$;
