-- leasehold.list_jobs: jobs, newest first, by pages.
--
--   p_filter  a JSON object, any of: queue, type, state (pending, running, succeeded, dead, escalated, cancelled), tag,
--             ordering_key, dedup_key, from, until (instants; of the id, which is when the job was made)
--   p_limit   1 to 200
--   p_before  the cursor of the page before, or null
--
-- Looks at 2,000 jobs a call at most, so a rare filter may give a short page with a cursor: go on until it is null. A tag
-- and a time are found by index. Returns {"jobs": [...], "next_cursor": id or null}, without payloads and results.
-- Example: select leasehold.list_jobs('{"queue": "emails", "state": "dead"}', 50, null);
create or replace function leasehold.list_jobs(p_filter jsonb, p_limit int, p_before uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scan constant int := 2000;
  v_queue text := p_filter ->> 'queue';
  v_type text := p_filter ->> 'type';
  v_state text := p_filter ->> 'state';
  v_tag text := p_filter ->> 'tag';
  v_ordering_key text := p_filter ->> 'ordering_key';
  v_dedup_key text := p_filter ->> 'dedup_key';
  v_low uuid := coalesce(
    leasehold.job_id_floor((p_filter ->> 'from')::timestamptz), '00000000-0000-0000-0000-000000000000'
  );
  v_high uuid := least(
    p_before, leasehold.job_id_floor((p_filter ->> 'until')::timestamptz), 'ffffffff-ffff-ffff-ffff-ffffffffffff'
  );
  v_last uuid;
  v_document jsonb;
  v_jobs jsonb[] := '{}';
  v_seen int := 0;
  j leasehold.jobs;
  v_rows refcursor;
begin
  if p_limit is null or p_limit not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'limit: must be between 1 and 200';
  end if;
  if v_state not in ('pending', 'running', 'succeeded', 'dead', 'escalated', 'cancelled') then
    raise exception using
      errcode = 'LH001',
      message = 'state: must be pending, running, succeeded, dead, escalated or cancelled';
  end if;
  if v_tag is null then
    open v_rows no scroll for
      select * from leasehold.jobs x where x.id < v_high and x.id >= v_low order by x.id desc limit v_scan;
  else
    open v_rows no scroll for
      select x.*
      from (
        select t.job_id
        from leasehold.job_tags t
        where t.tag = v_tag and t.job_id < v_high and t.job_id >= v_low
        order by t.job_id desc
        limit v_scan
      ) tagged
      join leasehold.jobs x on x.id = tagged.job_id
      order by x.id desc;
  end if;
  loop
    fetch v_rows into j;
    exit when not found;
    v_seen := v_seen + 1;
    v_last := j.id;
    if (v_queue is null or j.queue = v_queue)
      and (v_type is null or j.type = v_type)
      and (v_ordering_key is null or j.ordering_key = v_ordering_key)
      and (v_dedup_key is null or j.dedup_key = v_dedup_key)
    then
      v_document := leasehold.job_document(j);
      if v_state is null or v_document ->> 'state' = v_state then
        v_jobs := v_jobs || v_document;
      end if;
    end if;
    exit when cardinality(v_jobs) >= p_limit;
  end loop;
  close v_rows;
  return jsonb_build_object(
    'jobs', to_jsonb(v_jobs),
    'next_cursor', case when v_seen = v_scan or cardinality(v_jobs) >= p_limit then v_last end
  );
end
$$;
