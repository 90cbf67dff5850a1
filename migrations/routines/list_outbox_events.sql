-- leasehold.list_outbox_events: events of the outbox, by pages.
--
--   p_filter  a JSON object, any of: state (pending, held, quarantined, published, skipped); aggregate_type and aggregate_id,
--             the two together
--   p_limit   1 to 200
--   p_cursor  the next_cursor of the page before, with the same filter, or null
--
-- What waits comes oldest first, what is done newest first; an aggregate's events newest first; without a filter all, newest
-- first by the time in their ids. Looks at 2,000 events a call at most, so a page may be short and have a cursor: go on until
-- that is null. Returns {"events": [...], "next_cursor": text or null}, without payloads. Raises LH001.
-- Example: select leasehold.list_outbox_events('{"state": "quarantined"}', 50, null);
create or replace function leasehold.list_outbox_events(p_filter jsonb, p_limit int, p_cursor text)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scan constant int := 2000;
  v_state text := p_filter ->> 'state';
  v_type text := p_filter ->> 'aggregate_type';
  v_id text := p_filter ->> 'aggregate_id';
  v_problem text;
  v_at numeric;
  v_after uuid;
  v_time timestamptz;
  v_rows refcursor;
  v_row record;
  v_events jsonb[] := '{}';
  v_seen int := 0;
  v_place text;
  v_document jsonb;
begin
  v_problem := case
    when p_limit is null or p_limit not between 1 and 200 then 'limit: must be between 1 and 200'
    when v_state not in ('pending', 'held', 'quarantined', 'published', 'skipped')
      then 'state: must be pending, held, quarantined, published or skipped'
    when (v_type is null) <> (v_id is null) then 'aggregate_id: give aggregate_type and aggregate_id together'
    when p_cursor !~ '^[0-9]{1,19}(_[0-9a-f-]{36})?$' then 'cursor: must be the next_cursor of an earlier answer'
  end;
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;
  v_at := split_part(p_cursor, '_', 1)::numeric;
  v_after := nullif(split_part(p_cursor, '_', 2), '')::uuid;

  -- Each gives the events in their order, and the cursor behind each.
  if v_id is not null then
    open v_rows no scroll for
      select e as event, e.version::text as place
      from leasehold.outbox_events e
      where e.aggregate_type = v_type and e.aggregate_id = v_id and e.version < coalesce(v_at, 9007199254740992)
      order by e.version desc
      limit v_scan;
  elsif v_state in ('pending', 'held') then
    open v_rows no scroll for
      select e as event, q.position::text as place
      from (
        select p.position, p.event_id
        from leasehold.outbox_shards s
        cross join lateral (
          select w.position, w.event_id
          from leasehold.outbox_pending w
          where w.shard = s.shard and w.lane = case v_state when 'held' then 9 else 1 end
            and w.position > coalesce(v_at::bigint, 0)
          order by w.position
          limit v_scan
        ) p
        order by p.position
        limit v_scan
      ) q
      join leasehold.outbox_events e on e.id = q.event_id
      order by q.position;
  elsif v_state = 'quarantined' then
    v_time := coalesce(to_timestamp(v_at / 1000000), '-infinity');
    open v_rows no scroll for
      select e as event, format('%s_%s', (extract(epoch from h.quarantined_at) * 1000000)::bigint, h.event_id) as place
      from leasehold.outbox_holds h
      join leasehold.outbox_events e on e.id = h.event_id
      where h.quarantined_at is not null
        and (h.quarantined_at, h.event_id) > (v_time, coalesce(v_after, '00000000-0000-0000-0000-000000000000'))
      order by h.quarantined_at, h.event_id
      limit v_scan;
  elsif v_state in ('published', 'skipped') then
    v_time := coalesce(to_timestamp(v_at / 1000000), 'infinity');
    open v_rows no scroll for
      select e as event, format('%s_%s', (extract(epoch from d.at) * 1000000)::bigint, d.event_id) as place
      from (
        (select p.at, p.event_id
          from leasehold.outbox_published p
          where v_state = 'skipped' and p.outcome = 'skipped'
            and (p.at, p.event_id) < (v_time, coalesce(v_after, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
          order by p.at desc, p.event_id desc
          limit v_scan)
        union all
        (select p.at, p.event_id
          from leasehold.outbox_published p
          where v_state = 'published'
            and (p.at, p.event_id) < (v_time, coalesce(v_after, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
          order by p.at desc, p.event_id desc
          limit v_scan)
      ) d
      join leasehold.outbox_events e on e.id = d.event_id
      order by d.at desc, d.event_id desc;
  else
    open v_rows no scroll for
      select e as event, format('0_%s', e.id) as place
      from leasehold.outbox_events e
      where e.id < coalesce(v_after, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      order by e.id desc
      limit v_scan;
  end if;
  loop
    fetch v_rows into v_row;
    exit when not found;
    v_seen := v_seen + 1;
    v_place := v_row.place;
    v_document := leasehold.outbox_event_document(v_row.event);
    if v_state is null or v_document ->> 'state' = v_state then
      v_events := v_events || v_document;
    end if;
    exit when cardinality(v_events) >= p_limit;
  end loop;
  close v_rows;
  return jsonb_build_object(
    'events', to_jsonb(v_events),
    'next_cursor', case when v_seen = v_scan or cardinality(v_events) >= p_limit then v_place end
  );
end
$$;
