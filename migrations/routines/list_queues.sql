-- leasehold.list_queues: queues by name, by pages, with their settings.
--   p_after  the last name of the page before, or null;  p_limit  1 to 200
--   p_only   a JSON array: only these queues, for a caller who may not learn of others; null: all
-- Returns {"queues": [...], "next_cursor": name or null}. Example: select leasehold.list_queues(null, 50);
create or replace function leasehold.list_queues(p_after text, p_limit int, p_only jsonb default null)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names text[];
begin
  if p_limit is null or p_limit not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'limit: must be between 1 and 200';
  end if;
  select array_agg(n.name order by n.name)
  into v_names
  from (
    select q.name
    from leasehold.queues q
    where (p_after is null or q.name > p_after) and (p_only is null or p_only ? q.name)
    order by q.name
    limit p_limit
  ) n;
  return jsonb_build_object(
    'queues', (
      select coalesce(jsonb_agg(leasehold.queue_document(n.name) order by n.name), '[]') from unnest(v_names) n (name)
    ),
    'next_cursor', case when cardinality(v_names) = p_limit then v_names[p_limit] end
  );
end
$$;
