-- leasehold.due_schedules: schedules with a slot that has come, the longest overdue first, with the database clock.
-- Returns schedule (as the API shows it, without its payload) and now. Example: select * from leasehold.due_schedules(100);
create or replace function leasehold.due_schedules(p_limit int)
returns table (schedule jsonb, now timestamptz)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select leasehold.schedule_document(s) - 'payload', statement_timestamp()
  from leasehold.schedules s
  where s.paused_at is null and s.next_slot_at <= statement_timestamp()
  order by s.next_slot_at
  limit p_limit
$$;
