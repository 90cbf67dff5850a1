-- leasehold.fire_schedule: decides the slots of one schedule up to an instant: one job for each slot given, for ever, and
-- the next slot to wait for, in one transaction. Two ticks that overlap, or one that was cut off and comes again, make one
-- job a slot: whoever comes second finds that the slots are decided.
--
--   p_name             the schedule
--   p_decided_until    as the caller read it; another value now means that someone else decided meanwhile
--   p_slots            JSON array of {"at": instant, "job_id": uuid version 7}: the slots to fire, oldest first
--   p_until            slots up to here are decided
--   p_next_slot_at     the next one after that, or null
--
-- Returns how many jobs were made, or null when someone else decided, or the schedule is paused or gone. With overlap
-- "skip" a slot does not fire while the job of the one before is unfinished.
-- Example: select leasehold.fire_schedule('nightly', '…', '[{"at": "…", "job_id": "…"}]', '…', '…');
create or replace function leasehold.fire_schedule(
  p_name text,
  p_decided_until timestamptz,
  p_slots jsonb,
  p_until timestamptz,
  p_next_slot_at timestamptz
)
returns int
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  s leasehold.schedules;
  v_slot record;
  v_made int := 0;
begin
  select * into s from leasehold.schedules where name = p_name for update;
  -- To the millisecond: that is what a client in JavaScript can have read.
  if s.name is null or s.paused_at is not null
    or date_trunc('milliseconds', s.decided_until) <> date_trunc('milliseconds', p_decided_until)
  then
    return null;
  end if;
  for v_slot in
    select e.at, e.job_id from jsonb_to_recordset(p_slots) as e (at timestamptz, job_id uuid) order by e.at
  loop
    continue when s.overlap = 'skip'
      and exists (select 1 from leasehold.job_state j where j.job_id = s.last_job_id);
    insert into leasehold.schedule_slots (schedule, slot_at, job_id)
    values (p_name, v_slot.at, v_slot.job_id)
    on conflict do nothing;
    continue when not found;
    perform leasehold.enqueue(
      v_slot.job_id,
      s.queue,
      s.type,
      s.payload,
      p_priority => s.priority,
      p_max_attempts => s.max_attempts,
      p_headers => jsonb_build_object('schedule', p_name, 'slot_at', leasehold.iso(v_slot.at)),
      p_actor => left('schedule:' || p_name, 200)
    );
    s.last_job_id := v_slot.job_id;
    v_made := v_made + 1;
  end loop;
  update leasehold.schedules
  set decided_until = p_until,
    next_slot_at = p_next_slot_at,
    last_job_id = s.last_job_id
  where name = p_name;
  return v_made;
end
$$;
