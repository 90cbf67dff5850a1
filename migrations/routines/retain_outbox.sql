-- leasehold.retain_outbox: one bounded pass of retention over the outbox and the inbox; the scheduled pass calls it until it
-- says 0. What is not published, or skipped by a person, is never touched.
--
--   p_limit         1 to 10,000 rows of each kind
--   p_payload_days  payloads go so many days after their event was done: 1 and up, null: with the event
--   p_event_days    the envelope with its times and its log stays for so many: 2 and up, null: for ever
--   p_inbox_days    a consumer remembers an event for so many: 1 and up, null: for ever. A delivery that comes later is
--                   applied again, so this is longer than anything the broker keeps
--
-- Returns how many rows were looked after. Raises LH001. Example: select leasehold.retain_outbox(2000, 30, 90, 90);
create or replace function leasehold.retain_outbox(p_limit int, p_payload_days int, p_event_days int, p_inbox_days int)
returns int
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_limit int := least(greatest(p_limit, 1), 10000);
  v_before timestamptz;
  v_problem text;
  v_gone int := 0;
  v_count int;
  r leasehold.outbox_retention;
begin
  v_problem := case
    when p_payload_days < 1 then 'payload_days: must be 1 or more'
    when p_event_days < 2 or p_event_days < p_payload_days then 'event_days: must be 2 or more, and no less than payload_days'
    when p_inbox_days < 1 then 'inbox_days: must be 1 or more'
  end;
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;

  -- Another pass that is at it does the same work.
  select * into r from leasehold.outbox_retention for no key update skip locked;
  if r.only_row is null then
    return 0;
  end if;

  if p_payload_days is not null then
    v_before := v_now - make_interval(days => p_payload_days);
    with done as materialized (
      select p.event_id, p.at
      from leasehold.outbox_published p
      where (p.at, p.event_id) > (r.payloads_until, r.payloads_until_id) and p.at < v_before
      order by p.at, p.event_id
      limit v_limit
    ),
    dropped as (
      update leasehold.outbox_events e
      set payload = null, payload_dropped_at = v_now
      from done d
      where e.id = d.event_id and e.payload is not null
    )
    select count(*), max(d.at), (array_agg(d.event_id order by d.at desc, d.event_id desc))[1]
    into v_count, r.payloads_until, r.payloads_until_id
    from done d;
    if v_count > 0 then
      update leasehold.outbox_retention
      set payloads_until = r.payloads_until, payloads_until_id = r.payloads_until_id;
    end if;
    v_gone := v_gone + v_count;
  end if;

  if p_event_days is not null then
    with old as materialized (
      select p.event_id
      from leasehold.outbox_published p
      where p.at < v_now - make_interval(days => p_event_days)
      order by p.at, p.event_id
      limit v_limit
    ),
    logs as (
      delete from leasehold.outbox_log l using old where l.event_id = old.event_id
    ),
    events as (
      delete from leasehold.outbox_events e using old where e.id = old.event_id
    )
    delete from leasehold.outbox_published p using old where p.event_id = old.event_id;
    get diagnostics v_count = row_count;
    v_gone := v_gone + v_count;
  end if;

  if p_inbox_days is not null then
    delete from leasehold.inbox_events i
    using (
      select o.consumer, o.sender, o.event_id
      from leasehold.inbox_events o
      where o.at < v_now - make_interval(days => p_inbox_days)
      order by o.at
      limit v_limit
    ) old
    where i.consumer = old.consumer and i.sender = old.sender and i.event_id = old.event_id;
    get diagnostics v_count = row_count;
    v_gone := v_gone + v_count;
  end if;
  return v_gone;
end
$$;
