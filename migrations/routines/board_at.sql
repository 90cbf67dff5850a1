-- leasehold.board_at: the board as it was at an instant, from the event log: jobs, newest first, by pages, and which queues
-- were paused.
--
--   p_at      an instant that has passed
--   p_filter  a JSON object, any of: queue, queues (a list: these alone), state (pending, running, succeeded, dead, escalated,
--             cancelled), which is the state at that instant
--   p_limit   1 to 200
--   p_before  "next_before" of the page before, or null
--
-- Looks at 2,000 jobs a call at most, so a page may be short and have a "next_before": go on until it is null. Jobs that
-- retention has taken since are gone from the past as well. Returns {"at", "jobs": [...], "next_before": id or null,
-- "counts": {state: number of those looked at}, "capped": whether there were more, "queues": [...]}; the last three are of the
-- first page alone, else null. Raises LH001.
-- Example: select leasehold.board_at(now() - interval '1 hour', '{"queue": "emails"}', 50, null);
create or replace function leasehold.board_at(p_at timestamptz, p_filter jsonb, p_limit int, p_before uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scan constant int := 2000;
  v_queue constant text := p_filter ->> 'queue';
  v_queues constant jsonb := p_filter -> 'queues';
  v_state constant text := p_filter ->> 'state';
  -- An id may be of a day after the job was made.
  v_high constant uuid := least(p_before, leasehold.job_id_floor(p_at + interval '1 day'));
  v_jobs jsonb[] := '{}';
  v_counts jsonb := '{}';
  v_seen int := 0;
  v_last uuid;
  v_cut uuid;
  v_document jsonb;
  j leasehold.jobs;
begin
  if p_limit is null or p_limit not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'limit: must be between 1 and 200';
  end if;
  if p_at is null or p_at > clock_timestamp() then
    raise exception using errcode = 'LH001', message = 'at: must be an instant that has passed';
  end if;
  if v_state not in ('pending', 'running', 'succeeded', 'dead', 'escalated', 'cancelled') then
    raise exception using
      errcode = 'LH001',
      message = 'state: must be pending, running, succeeded, dead, escalated or cancelled';
  end if;
  for j in
    select * from leasehold.jobs x where x.id < v_high order by x.id desc limit v_scan
  loop
    v_seen := v_seen + 1;
    v_last := j.id;
    continue when j.created_at > p_at
      or v_queue is not null and j.queue <> v_queue
      or v_queues is not null and not v_queues ? j.queue;
    v_document := leasehold.past_job_document(j, p_at);
    continue when v_document is null;
    if p_before is null then
      v_counts := v_counts || jsonb_build_object(
        v_document ->> 'state', coalesce((v_counts ->> (v_document ->> 'state'))::int, 0) + 1
      );
    end if;
    continue when v_state is not null and v_document ->> 'state' <> v_state;
    if cardinality(v_jobs) < p_limit then
      v_jobs := v_jobs || v_document;
      v_cut := j.id;
    end if;
    -- The first page goes on, for the counts.
    exit when cardinality(v_jobs) >= p_limit and p_before is not null;
  end loop;
  return jsonb_build_object(
    'at', leasehold.iso(p_at),
    'jobs', to_jsonb(v_jobs),
    'next_before', case
      when cardinality(v_jobs) >= p_limit then v_cut
      when v_seen = v_scan then v_last
    end,
    'counts', case when p_before is null then v_counts end,
    'capped', case when p_before is null then v_seen = v_scan end,
    'queues', case when p_before is null then leasehold.past_queues(p_at, v_queue, v_queues) end
  );
end
$$;
