-- leasehold.has_due: is any job of this queue claimable at p_now? Five index probes at most; locks nothing.
-- A row that another call is claiming at this instant still counts, and one that committed below the floors may not yet, so
-- the answer is a hint. Internal: its callers' settings hold here too.
create or replace function leasehold.has_due(p_queue text, p_now timestamptz)
returns boolean
language plpgsql
stable
as $$
declare
  f timestamptz[];
begin
  select u.floors into f from leasehold.usable_floors(p_queue, p_now) u;
  f := coalesce(f, array_fill('-infinity'::timestamptz, array[5]));
  return
    exists (select 1 from leasehold.job_state s
      where s.queue = p_queue and s.lane = 3 and s.due_at >= f[4] and s.due_at <= p_now)
    or exists (select 1 from leasehold.job_state s
      where s.queue = p_queue and s.lane = 2 and s.due_at >= f[3] and s.due_at <= p_now)
    or exists (select 1 from leasehold.job_state s
      where s.queue = p_queue and s.lane = 1 and s.due_at >= f[2] and s.due_at <= p_now)
    or exists (select 1 from leasehold.job_state s
      where s.queue = p_queue and s.lane = 4 and s.due_at >= f[5] and s.due_at <= p_now)
    or exists (select 1 from leasehold.job_state s
      where s.queue = p_queue and s.lane = 0 and s.due_at >= f[1] and s.due_at <= p_now);
end
$$;
