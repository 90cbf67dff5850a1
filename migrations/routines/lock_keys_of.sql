-- leasehold.lock_keys_of: takes the ordering and dedup locks of some jobs, in one order, before any of their rows is locked.
-- Internal.
create or replace function leasehold.lock_keys_of(p_job_ids uuid[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(l.id)
  from (
    select distinct k.id
    from leasehold.jobs j
    cross join lateral (
      values
        (case when j.ordering_key is not null then leasehold.key_lock_id('ordering', j.queue, j.ordering_key) end),
        (case when j.dedup_key is not null then leasehold.key_lock_id('dedup', j.queue, j.dedup_key) end)
    ) k (id)
    where j.id = any (p_job_ids) and k.id is not null
    order by 1
  ) l;
end
$$;
