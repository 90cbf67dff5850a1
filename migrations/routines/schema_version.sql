-- leasehold.schema_version: the newest migration applied, and the oldest code version that can run on it.
create or replace function leasehold.schema_version(out version int, out oldest_code int)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select v.version, v.oldest_code from leasehold.schema_version v
$$;
