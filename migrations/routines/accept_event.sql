-- leasehold.accept_event: a consumer records an event in the transaction of its effects, and learns whether to apply it.
--
--   p_consumer        the consumer's name, 1 to 128 characters
--   p_event_id        the event's id, 1 to 200 characters: unique to its sender
--   p_aggregate_type, p_aggregate_id, p_version   as in the envelope; null where the policy is any
--   p_policy          any: every event once, in whatever order; apply-newer-only: an event older than one applied is passed
--                     over; strict: versions one after another, a gap is refused
--   p_raise           for a batch that cannot look at the answer: raise instead of answering anything but accepted
--   p_sender          who sent it, up to 200 characters, as its credential says and not its body. Events of two senders are
--                     never taken for each other (default: empty, the only sender)
--
-- Returns one row: accepted, with the version applied before; duplicate (the event was recorded before, and counts one more);
-- stale (apply-newer-only and strict: a newer version was applied; the event is recorded, so that it is seen once); or gap
-- (strict: expected_version is missing; nothing is recorded). Two deliveries at once wait for each other here: one is
-- accepted, and if its transaction rolls back the other is. Raises LH001; with p_raise LH006, whose message begins with it.
-- Acknowledge the delivery only after your commit.
-- Example: select * from leasehold.accept_event('inventory', '…', 'order', '42', 3, 'strict');
create or replace function leasehold.accept_event(
  p_consumer text,
  p_event_id text,
  p_aggregate_type text default null,
  p_aggregate_id text default null,
  p_version bigint default null,
  p_policy text default 'any',
  p_raise boolean default false,
  p_sender text default ''
)
returns table (outcome text, applied_version bigint, expected_version bigint)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text;
begin
  v_problem := leasehold.new_receipt_problem(
    p_consumer, p_sender, p_event_id, p_aggregate_type, p_aggregate_id, p_version, p_policy
  );
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;

  insert into leasehold.inbox_events as i (consumer, sender, event_id, at)
  values (p_consumer, p_sender, p_event_id, clock_timestamp())
  on conflict (consumer, sender, event_id) do update set duplicates = i.duplicates + 1
  returning case when i.duplicates = 0 then 'accepted' else 'duplicate' end into outcome;

  if outcome = 'accepted' and p_policy <> 'any' then
    applied_version := leasehold.lock_inbox_version(p_consumer, p_sender, p_aggregate_type, p_aggregate_id);
    if p_version <= applied_version then
      outcome := 'stale';
    elsif p_policy = 'strict' and p_version > applied_version + 1 then
      outcome := 'gap';
      expected_version := applied_version + 1;
      delete from leasehold.inbox_events i
      where i.consumer = p_consumer and i.sender = p_sender and i.event_id = p_event_id;
    else
      update leasehold.inbox_versions v
      set version = p_version
      where v.consumer = p_consumer
        and v.sender = p_sender
        and v.aggregate_type = p_aggregate_type
        and v.aggregate_id = p_aggregate_id;
      delete from leasehold.inbox_parked k
      where k.consumer = p_consumer
        and k.sender = p_sender
        and k.aggregate_type = p_aggregate_type
        and k.aggregate_id = p_aggregate_id
        and k.version <= p_version;
    end if;
  end if;

  if p_raise and outcome <> 'accepted' then
    raise exception using
      errcode = 'LH006',
      message = concat_ws(': ', outcome, 'version ' || expected_version || ' is expected'),
      hint = 'The event was not applied now; the transaction rolls back with all its effects.';
  end if;
  return next;
end
$$;
