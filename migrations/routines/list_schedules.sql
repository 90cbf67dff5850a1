-- leasehold.list_schedules: schedules by name, by pages, without payloads.
--   p_after  the last name of the page before, or null;  p_limit  1 to 200
--   p_only   a JSON array: only schedules of these queues, for a caller who may not learn of others; null: all
-- Returns {"schedules": [...], "next_cursor": name or null}. Example: select leasehold.list_schedules(null, 50);
create or replace function leasehold.list_schedules(p_after text, p_limit int, p_only jsonb default null)
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'schedules', coalesce(jsonb_agg(leasehold.schedule_document(s) - 'payload' order by s.name), '[]'),
    'next_cursor', case when count(*) = p_limit then max(s.name) end
  )
  from (
    select *
    from leasehold.schedules
    where (p_after is null or name > p_after) and (p_only is null or p_only ? queue)
    order by name
    limit least(p_limit, 200)
  ) s
$$;
