-- leasehold.list_jobs: jobs, newest first, by pages.
--
--   p_queue   only this queue, or null
--   p_state   only this state (pending, running, succeeded, dead), or null
--   p_limit   1 to 200
--   p_before  the cursor of the page before, or null
--
-- Looks at 2,000 jobs a call at most, so a rare filter may give a short page with a cursor: go on until it is null.
-- Returns {"jobs": [...], "next_cursor": id or null}. Payloads and results are left out.
-- Example: select leasehold.list_jobs('emails', 'dead', 50, null);
create or replace function leasehold.list_jobs(p_queue text, p_state text, p_limit int, p_before uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  j leasehold.jobs;
  v_document jsonb;
  v_jobs jsonb[] := '{}';
  v_seen int := 0;
begin
  if p_limit not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'limit: must be between 1 and 200';
  end if;
  if p_state not in ('pending', 'running', 'succeeded', 'dead') then
    raise exception using errcode = 'LH001', message = 'state: must be pending, running, succeeded or dead';
  end if;
  for j in
    select *
    from leasehold.jobs
    where id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
    order by id desc
    limit 2000
  loop
    v_seen := v_seen + 1;
    if p_queue is null or j.queue = p_queue then
      v_document := leasehold.job_document(j);
      if p_state is null or v_document ->> 'state' = p_state then
        v_jobs := v_jobs || v_document;
      end if;
    end if;
    exit when cardinality(v_jobs) >= p_limit;
  end loop;
  return jsonb_build_object(
    'jobs', to_jsonb(v_jobs),
    'next_cursor', case when v_seen = 2000 or cardinality(v_jobs) >= p_limit then j.id end
  );
end
$$;
