-- leasehold.take_turn: whether it is time for a pass that comes round, asked by ticks that may overlap: one of them gets
-- true an interval, the others false. A turn that is not due costs one read and no lock.
--
--   p_name           the pass, 1 to 128 characters
--   p_every_seconds  1 to 86,400
--
-- Raises LH001. Safe to repeat: after a lost answer the repeat says false, and the turn passes unused until the next.
-- Example: select leasehold.take_turn('retention', 3600);
create or replace function leasehold.take_turn(p_name text, p_every_seconds int)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before timestamptz := clock_timestamp() - make_interval(secs => p_every_seconds);
begin
  if p_name is null or char_length(p_name) not between 1 and 128 then
    raise exception using errcode = 'LH001', message = 'name: give 1 to 128 characters';
  end if;
  if p_every_seconds is null or p_every_seconds not between 1 and 86400 then
    raise exception using errcode = 'LH001', message = 'every_seconds: must be between 1 and 86400';
  end if;
  if exists (select 1 from leasehold.turns t where t.name = p_name and t.taken_at > v_before) then
    return false;
  end if;
  insert into leasehold.turns as t (name, taken_at)
  values (p_name, clock_timestamp())
  on conflict (name) do update set taken_at = excluded.taken_at where t.taken_at <= v_before;
  return found;
end
$$;
