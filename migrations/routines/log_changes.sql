-- leasehold.log_changes: what the live feed reads: events since a cursor, events that are committed but not settled yet, and
-- the jobs that all of them are about, as they are now, in one snapshot.
--
--   p_cursor  "cursor" of the answer before, or null: nothing but where the log ends now
--   p_seen    "seen" of the answer before; null: no early event was given
--   p_limit   1 to 200: settled events, and as many early ones
--
-- An early event lies above the oldest running transaction. It has no cursor, and comes once as early one and again with a
-- cursor, under the same id, when it is settled: a transaction that runs for an hour does not hold up who watches, and
-- nothing that commits late is skipped by who resumes. "seen" is the snapshot up to which early events were given.
--
-- Returns {"events": [...], "jobs": [...], "cursor": text, "seen": text, "more": boolean, "unsettled": boolean}: more: ask
-- again at once; unsettled: ask again soon. Raises LH001.
-- Example: select leasehold.log_changes('733_j12', null, 200);
create or replace function leasehold.log_changes(p_cursor text, p_seen text, p_limit int)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_now constant pg_snapshot := pg_current_snapshot();
  v_horizon constant xid8 := pg_snapshot_xmin(v_now);
  v_cursor text := p_cursor;
  -- By itself nothing above the horizon was seen.
  v_seen text := coalesce(p_seen, format('%s:%s:', v_horizon, v_horizon));
  v_settled jsonb := '[]';
  v_early jsonb := '[]';
  v_more boolean;
  v_first xid8;
  v_last xid8;
  v_unsettled boolean;
begin
  if p_limit is null or p_limit not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'limit: must be between 1 and 200';
  end if;
  if p_cursor is null then
    v_cursor := format('%s_j0', v_horizon);
    v_seen := v_now::text;
    v_more := false;
  else
    select
      coalesce(
        jsonb_agg(
          leasehold.log_event(
            l.kind, l.id, l.xact_id, true, l.job_id, l.queue, l.job_type, l.type, l.actor, l.at, l.fencing_token, l.details
          )
          order by l.xact_id, l.kind collate "C", l.id
        ),
        '[]'
      ),
      count(*) = p_limit
    into v_settled, v_more
    from leasehold.settled_log(p_cursor, p_limit) l;
    v_cursor := coalesce(v_settled -> -1 ->> 'cursor', p_cursor);
    if not v_more then
      select e.events, e.first_xact, e.last_xact, e.full_page
      into v_early, v_first, v_last, v_more
      from leasehold.early_log(v_seen::pg_snapshot, p_limit) e;
      v_seen := v_now::text;
      if v_more then
        -- As if the snapshot had been taken before the last transaction of this page, or behind it when it fills the page.
        v_last := case when v_first = v_last then (v_last::text::numeric + 1)::text::xid8 else v_last end;
        v_seen := format('%s:%s:%s', v_horizon, v_last, (
          select string_agg(x::text, ',' order by x) from pg_snapshot_xip(v_now) x where x < v_last
        ));
      end if;
    end if;
  end if;
  v_unsettled := exists (select 1 from leasehold.job_events e where e.xact_id >= v_horizon)
    or exists (select 1 from leasehold.queue_events q where q.xact_id >= v_horizon);
  return jsonb_build_object(
    'events', v_settled || v_early,
    'jobs', (
      select coalesce(jsonb_agg(leasehold.job_document(j) order by j.id), '[]')
      from (
        select distinct (e ->> 'job_id')::uuid as id from jsonb_array_elements(v_settled || v_early) e
      ) changed
      join leasehold.jobs j on j.id = changed.id
    ),
    'cursor', v_cursor,
    'seen', v_seen,
    'more', v_more,
    'unsettled', v_unsettled
  );
end
$$;
