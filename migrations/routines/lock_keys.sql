-- leasehold.lock_keys: takes the locks of some keys, given by leasehold.key_lock_id, in one order; the caller has locked
-- no row yet. The server has room for some thousands of locks in all, for everybody together: calls that need more than
-- fifty go one after another, or a few large batches at once would use up that room and fail statements that have nothing
-- to do with them. Internal. Returns how many keys there are.
create or replace function leasehold.lock_keys(p_ids bigint[])
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_many constant int := 50;
  v_ids bigint[] := array(select distinct k.id from unnest(p_ids) k (id) where k.id is not null order by 1);
  v_id bigint;
begin
  if cardinality(v_ids) > v_many then
    perform pg_advisory_xact_lock(leasehold.key_lock_id('many_keys', '', ''));
  end if;
  foreach v_id in array v_ids loop
    perform pg_advisory_xact_lock(v_id);
  end loop;
  return cardinality(v_ids);
end
$$;
