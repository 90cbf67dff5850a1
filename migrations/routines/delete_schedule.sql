-- leasehold.delete_schedule: removes a schedule; jobs that it made stay, and so do its slots: made again under the same
-- name, it never fires an old slot twice. Returns whether there was one. Example: select leasehold.delete_schedule('nightly');
create or replace function leasehold.delete_schedule(p_name text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from leasehold.schedules where name = p_name;
  return found;
end
$$;
