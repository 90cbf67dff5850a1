-- leasehold.list_escalations: escalated jobs, those that have waited longest first, by pages, with who holds them.
--   p_queue  only this queue, or null;  p_limit  1 to 200;  p_after  the cursor of the page before, or null
--   p_only   a JSON array: only of these queues, for a caller who may not learn of others (default: all)
-- Returns {"jobs": [...], "next_cursor": text or null}. Example: select leasehold.list_escalations('refunds', 50, null);
create or replace function leasehold.list_escalations(
  p_queue text,
  p_limit int,
  p_after text,
  p_only jsonb default null
)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_after_at timestamptz := coalesce(to_timestamp(split_part(p_after, '_', 1)::numeric / 1000000), '-infinity');
  v_after_id uuid := coalesce(nullif(split_part(p_after, '_', 2), '')::uuid, '00000000-0000-0000-0000-000000000000');
  v_ids uuid[];
  v_last leasehold.dead_letters;
begin
  if p_limit is null or p_limit not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'limit: must be between 1 and 200';
  end if;
  if p_queue is null then
    v_ids := array(
      select l.job_id
      from leasehold.dead_letters l
      where l.state = 'escalated' and (l.dead_at, l.job_id) > (v_after_at, v_after_id)
        and (p_only is null or p_only ? l.queue)
      order by l.dead_at, l.job_id
      limit p_limit
    );
  else
    v_ids := array(
      select l.job_id
      from leasehold.dead_letters l
      where l.state = 'escalated' and l.queue = p_queue and l.dead_at >= v_after_at
        and (l.dead_at, l.job_id) > (v_after_at, v_after_id) and (p_only is null or p_only ? l.queue)
      order by l.dead_at, l.job_id
      limit p_limit
    );
  end if;
  if cardinality(v_ids) = p_limit then
    select * into v_last from leasehold.dead_letters where job_id = v_ids[p_limit];
  end if;
  return jsonb_build_object(
    'jobs', (
      select coalesce(jsonb_agg(leasehold.job_document(j) order by i.ord), '[]')
      from unnest(v_ids) with ordinality i (id, ord)
      join leasehold.jobs j on j.id = i.id
    ),
    'next_cursor', case
      when v_last.job_id is not null then
        format('%s_%s', (extract(epoch from v_last.dead_at) * 1000000)::bigint, v_last.job_id)
    end
  );
end
$$;
