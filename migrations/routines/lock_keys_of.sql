-- leasehold.lock_keys_of: takes the ordering and dedup locks of some jobs, in one order, before any of their rows is locked.
-- Internal.
create or replace function leasehold.lock_keys_of(p_job_ids uuid[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform leasehold.lock_keys(
    array_agg(leasehold.key_lock_id('ordering', j.queue, j.ordering_key)) filter (where j.ordering_key is not null)
      || array_agg(leasehold.key_lock_id('dedup', j.queue, j.dedup_key)) filter (where j.dedup_key is not null)
  )
  from leasehold.jobs j
  where j.id = any (p_job_ids);
end
$$;
