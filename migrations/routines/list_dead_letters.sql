-- leasehold.list_dead_letters: dead jobs, the oldest first, by pages, with owner and note.
--   p_queue  only this queue, or null;  p_limit  1 to 200;  p_after  the cursor of the page before, or null
-- Returns {"jobs": [...], "next_cursor": text or null}. Example: select leasehold.list_dead_letters('emails', 50, null);
create or replace function leasehold.list_dead_letters(p_queue text, p_limit int, p_after text)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_after_at timestamptz := coalesce(to_timestamp(split_part(p_after, '_', 1)::numeric / 1000000), '-infinity');
  v_after_id uuid := coalesce(nullif(split_part(p_after, '_', 2), '')::uuid, '00000000-0000-0000-0000-000000000000');
  v_jobs jsonb;
  v_count int;
  v_cursor text;
begin
  if p_limit is null or p_limit not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'limit: must be between 1 and 200';
  end if;
  select
    coalesce(jsonb_agg(leasehold.job_document(j) order by d.dead_at, d.job_id), '[]'),
    count(*),
    (array_agg(format('%s_%s', (extract(epoch from d.dead_at) * 1000000)::bigint, d.job_id)
      order by d.dead_at desc, d.job_id desc))[1]
  into v_jobs, v_count, v_cursor
  from (
    select l.job_id, l.dead_at
    from leasehold.dead_letters l
    where l.state = 'dead' and (p_queue is null or l.queue = p_queue) and (l.dead_at, l.job_id) > (v_after_at, v_after_id)
    order by l.dead_at, l.job_id
    limit p_limit
  ) d
  join leasehold.jobs j on j.id = d.job_id;
  return jsonb_build_object('jobs', v_jobs, 'next_cursor', case when v_count = p_limit then v_cursor end);
end
$$;
