-- leasehold.check_chosen: raises LH001 unless what a person chose to settle is in order: an array of ids, a reason, an actor.
-- p_field is the name that the caller knows the ids by, p_most how many there may be. Internal.
create or replace function leasehold.check_chosen(p_field text, p_ids jsonb, p_most int, p_reason text, p_actor text)
returns void
language plpgsql
immutable
as $$
begin
  if jsonb_typeof(p_ids) is distinct from 'array' or jsonb_array_length(p_ids) not between 1 and p_most then
    raise exception using errcode = 'LH001', message = format('%s: give an array of 1 to %s ids', p_field, p_most);
  end if;
  if p_reason is null or char_length(p_reason) not between 1 and 1000 then
    raise exception using errcode = 'LH001', message = 'reason: give 1 to 1000 characters';
  end if;
  if p_actor is null or char_length(p_actor) not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'actor: give 1 to 200 characters';
  end if;
end
$$;
