-- leasehold.accept_event: a consumer records an event in the transaction of its effects, and learns whether to apply it.
--
--   p_consumer        the consumer's name, 1 to 128 characters
--   p_event_id        the event's id, 1 to 200 characters; ids of several senders are told apart by a prefix of yours
--   p_aggregate_type, p_aggregate_id, p_version   as in the envelope; null where the policy is any
--   p_policy          any: every event once, in whatever order; apply-newer-only: an event older than one applied is passed
--                     over; strict: versions one after another, a gap is refused
--   p_raise           for a batch that cannot look at the answer: raise instead of answering anything but accepted
--
-- Returns one row: accepted, with the version applied before; duplicate (the event was recorded before, and counts one more);
-- stale (apply-newer-only and strict: a newer version was applied; the event is recorded, so that it is seen once); or gap
-- (strict: expected_version is missing; nothing is recorded). Two deliveries at once wait for each other here: one is
-- accepted, and if its transaction rolls back the other is. Raises LH001; with p_raise LH006, whose message is the outcome.
-- Acknowledge the delivery only after your commit.
-- Example: select * from leasehold.accept_event('inventory', '…', 'order', '42', 3, 'strict');
create or replace function leasehold.accept_event(
  p_consumer text,
  p_event_id text,
  p_aggregate_type text default null,
  p_aggregate_id text default null,
  p_version bigint default null,
  p_policy text default 'any',
  p_raise boolean default false
)
returns table (outcome text, applied_version bigint, expected_version bigint)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text;
begin
  v_problem := case
    when p_consumer is null or char_length(p_consumer) not between 1 and 128 or p_consumer ~ '[[:cntrl:]]'
      then 'consumer: give 1 to 128 characters, no control characters'
    when p_event_id is null or char_length(p_event_id) not between 1 and 200 or p_event_id ~ '[[:cntrl:]]'
      then 'event_id: give 1 to 200 characters, no control characters'
    when p_policy is null or p_policy not in ('any', 'apply-newer-only', 'strict')
      then 'policy: must be any, apply-newer-only or strict'
    when p_policy <> 'any' and (p_aggregate_type is null or p_aggregate_id is null or p_version is null)
      then format('version: policy %s needs aggregate_type, aggregate_id and version', p_policy)
    when p_version < 1 then 'version: must be 1 or more'
  end;
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;

  insert into leasehold.inbox_events as i (consumer, event_id, at)
  values (p_consumer, p_event_id, clock_timestamp())
  on conflict (consumer, event_id) do update set duplicates = i.duplicates + 1
  returning case when i.duplicates = 0 then 'accepted' else 'duplicate' end into outcome;

  if outcome = 'accepted' and p_policy <> 'any' then
    -- The consumer's row of this aggregate is locked from here to the commit: versions are applied one after another.
    insert into leasehold.inbox_versions (consumer, aggregate_type, aggregate_id, version)
    values (p_consumer, p_aggregate_type, p_aggregate_id, 0)
    on conflict (consumer, aggregate_type, aggregate_id) do nothing;
    select v.version into applied_version
    from leasehold.inbox_versions v
    where v.consumer = p_consumer and v.aggregate_type = p_aggregate_type and v.aggregate_id = p_aggregate_id
    for no key update;
    if p_version <= applied_version then
      outcome := 'stale';
    elsif p_policy = 'strict' and p_version > applied_version + 1 then
      outcome := 'gap';
      expected_version := applied_version + 1;
      delete from leasehold.inbox_events i where i.consumer = p_consumer and i.event_id = p_event_id;
    else
      update leasehold.inbox_versions v
      set version = p_version
      where v.consumer = p_consumer and v.aggregate_type = p_aggregate_type and v.aggregate_id = p_aggregate_id;
      delete from leasehold.inbox_parked k
      where k.consumer = p_consumer and k.aggregate_type = p_aggregate_type and k.aggregate_id = p_aggregate_id
        and k.version <= p_version;
    end if;
  end if;

  if p_raise and outcome <> 'accepted' then
    raise exception using
      errcode = 'LH006',
      message = outcome,
      detail = case when outcome = 'gap' then expected_version::text end,
      hint = 'The event was not applied now; the transaction rolls back with all its effects.';
  end if;
  return next;
end
$$;
