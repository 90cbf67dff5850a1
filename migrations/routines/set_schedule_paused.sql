-- leasehold.set_schedule_paused: stops or resumes a schedule; slots that pass while it is paused are not made up for.
-- Resuming one that is not paused decides nothing.
-- p_next_slot_at: the first slot after now, when resuming. Returns the schedule, or null when there is none.
-- Example: select leasehold.set_schedule_paused('nightly', true, null);
create or replace function leasehold.set_schedule_paused(p_name text, p_paused boolean, p_next_slot_at timestamptz)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  s leasehold.schedules;
begin
  update leasehold.schedules
  set paused_at = case when p_paused then coalesce(paused_at, clock_timestamp()) end,
    decided_until = case when p_paused or paused_at is null then decided_until else clock_timestamp() end,
    next_slot_at = case
      when p_paused then next_slot_at
      when paused_at is null then least(next_slot_at, p_next_slot_at)
      else p_next_slot_at
    end,
    updated_at = clock_timestamp()
  where name = p_name
  returning * into s;
  if s.name is null then
    return null;
  end if;
  return leasehold.schedule_document(s);
end
$$;
