-- leasehold.put_schedule: makes a schedule or changes it. New times (another cron or zone) count from now on, and no slot
-- of the old times fires any more. With the same times nothing is decided: a slot that has just come is not lost to a
-- deployment that puts its schedules again. Made again under the name of a deleted schedule, it goes on from that one's
-- last job, for its overlap. The caller has checked the expression and worked out the next slot.
--
--   p_schedule  {"name", "cron", "zone", "queue", "type", "payload", "priority", "max_attempts", "missed", "missed_limit",
--               "overlap"}
--   p_next_slot_at  the first slot after now, or null when it never fires again
--   p_actor         who does it, 1 to 200 characters
--
-- Returns the schedule. Raises LH001 for names; a check violation for words the caller let through.
-- Example: select leasehold.put_schedule('{"name": "nightly", "cron": "0 2 * * *", "zone": "Europe/Oslo", …}', '…', 'maria');
create or replace function leasehold.put_schedule(p_schedule jsonb, p_next_slot_at timestamptz, p_actor text)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := coalesce(
    leasehold.name_problem('name', p_schedule ->> 'name'),
    leasehold.name_problem('queue', p_schedule ->> 'queue'),
    leasehold.name_problem('type', p_schedule ->> 'type')
  );
  s leasehold.schedules;
begin
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;
  insert into leasehold.schedules as old
    (name, cron, zone, queue, type, payload, priority, max_attempts, missed, missed_limit, overlap, decided_until,
      next_slot_at, last_job_id, created_by)
  values (
    p_schedule ->> 'name', p_schedule ->> 'cron', p_schedule ->> 'zone', p_schedule ->> 'queue', p_schedule ->> 'type',
    coalesce(p_schedule -> 'payload', 'null'), coalesce(p_schedule ->> 'priority', 'normal'),
    (p_schedule ->> 'max_attempts')::int, coalesce(p_schedule ->> 'missed', 'latest'),
    coalesce((p_schedule ->> 'missed_limit')::int, 10), coalesce(p_schedule ->> 'overlap', 'allow'),
    clock_timestamp(),
    p_next_slot_at,
    (
      select l.job_id
      from leasehold.schedule_slots l
      where l.schedule = p_schedule ->> 'name'
      order by l.slot_at desc
      limit 1
    ),
    p_actor
  )
  on conflict (name) do update
  set cron = excluded.cron,
    zone = excluded.zone,
    queue = excluded.queue,
    type = excluded.type,
    payload = excluded.payload,
    priority = excluded.priority,
    max_attempts = excluded.max_attempts,
    missed = excluded.missed,
    missed_limit = excluded.missed_limit,
    overlap = excluded.overlap,
    decided_until = case
      when (old.cron, old.zone) = (excluded.cron, excluded.zone) then old.decided_until
      else excluded.decided_until
    end,
    next_slot_at = case
      when (old.cron, old.zone) = (excluded.cron, excluded.zone) then least(old.next_slot_at, excluded.next_slot_at)
      else excluded.next_slot_at
    end,
    updated_at = clock_timestamp()
  returning * into s;
  return leasehold.schedule_document(s);
end
$$;
