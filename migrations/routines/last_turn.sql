-- leasehold.last_turn: when a pass that comes round was last begun, to the interval of its turns; null: never.
-- Example: select leasehold.last_turn('tick');
create or replace function leasehold.last_turn(p_name text)
returns timestamptz
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select t.taken_at from leasehold.turns t where t.name = p_name
$$;
