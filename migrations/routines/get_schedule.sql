-- leasehold.get_schedule: one schedule, or null. Example: select leasehold.get_schedule('nightly');
create or replace function leasehold.get_schedule(p_name text)
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select leasehold.schedule_document(s) from leasehold.schedules s where s.name = p_name
$$;
