-- leasehold.note_dead_letter: gives a dead or escalated job an owner and a note.
--
--   p_owner  who looks after it, up to 200 characters; null leaves it
--   p_note   up to 4,000 characters; null leaves it
--   p_actor  who writes, 1 to 200 characters
--
-- Returns whether the job is dead or escalated. Raises LH001. Example: select leasehold.note_dead_letter('…', 'maria', 'asked the bank', 'maria');
create or replace function leasehold.note_dead_letter(p_job_id uuid, p_owner text, p_note text, p_actor text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token bigint;
begin
  if char_length(p_owner) not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'owner: give 1 to 200 characters';
  end if;
  if char_length(p_note) > 4000 then
    raise exception using errcode = 'LH001', message = 'note: give at most 4000 characters';
  end if;
  update leasehold.dead_letters
  set owner = coalesce(p_owner, owner),
    note = coalesce(p_note, note)
  where job_id = p_job_id
  returning fencing_token into v_token;
  if v_token is null then
    return false;
  end if;
  insert into leasehold.job_events (job_id, type, actor, fencing_token, details)
  values (p_job_id, 'noted', p_actor, v_token, jsonb_build_object('owner', p_owner, 'note', p_note));
  return true;
end
$$;
