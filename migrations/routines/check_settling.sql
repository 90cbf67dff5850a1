-- leasehold.check_settling: raises LH001 unless ids, reason and actor of a redrive or discard are in order. Internal.
create or replace function leasehold.check_settling(p_job_ids jsonb, p_reason text, p_actor text)
returns void
language plpgsql
immutable
as $$
begin
  if jsonb_typeof(p_job_ids) is distinct from 'array' or jsonb_array_length(p_job_ids) not between 1 and 1000 then
    raise exception using errcode = 'LH001', message = 'job_ids: give an array of 1 to 1000 ids';
  end if;
  if p_reason is null or char_length(p_reason) not between 1 and 1000 then
    raise exception using errcode = 'LH001', message = 'reason: give 1 to 1000 characters';
  end if;
  if p_actor is null or char_length(p_actor) not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'actor: give 1 to 200 characters';
  end if;
end
$$;
