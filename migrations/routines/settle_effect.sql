-- leasehold.settle_effect: records how an effect ended.
--
--   p_job_id, p_key  the effect
--   p_state   done or not_done (then a later attempt may run it)
--   p_result  any JSON value up to 64 KiB, kept with done
--   p_actor   who says so, 1 to 200 characters
--   p_fencing_token  the attempt that says so, which must hold the lease; null: a person, while no attempt runs
--
-- Returns one word: settled; running (a person's word is refused while an attempt runs); lease_lost; or not_found.
-- Repeated with the same word it says settled again. Example: select leasehold.settle_effect('…', 'charge', 'done', '{"id": "ch_1"}', 'worker-7', 3);
create or replace function leasehold.settle_effect(
  p_job_id uuid,
  p_key text,
  p_state text,
  p_result jsonb,
  p_actor text,
  p_fencing_token bigint default null
)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r leasehold.job_state;
  e leasehold.effects;
begin
  if p_state is null or p_state not in ('done', 'not_done') then
    raise exception using errcode = 'LH001', message = 'state: must be done or not_done';
  end if;
  if p_actor is null or char_length(p_actor) not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'actor: give 1 to 200 characters';
  end if;
  if pg_column_size(p_result) > 65536 then
    raise exception using errcode = 'LH001', message = 'result: give at most 65536 bytes';
  end if;
  select s.* into r from leasehold.job_state s where s.job_id = p_job_id for no key update;
  if p_fencing_token is null then
    if r.lane = 0 and r.due_at > clock_timestamp() then
      return 'running';
    end if;
  elsif r.job_id is null or r.fencing_token <> p_fencing_token or r.owner is distinct from p_actor or r.lane <> 0
    or r.due_at <= clock_timestamp()
  then
    return 'lease_lost';
  end if;
  select * into e from leasehold.effects f where f.job_id = p_job_id and f.key = p_key for update;
  if e.job_id is null then
    return 'not_found';
  end if;
  if e.state = p_state and e.result is not distinct from p_result then
    return 'settled';
  end if;
  update leasehold.effects f
  set state = p_state,
    result = case when p_state = 'done' then p_result end,
    settled_at = clock_timestamp(),
    settled_by = p_actor
  where f.job_id = p_job_id and f.key = p_key;
  insert into leasehold.job_events (job_id, type, actor, fencing_token, details)
  values (p_job_id, case when p_fencing_token is null or p_state = 'not_done' then 'effect_settled' else 'effect_done' end,
    p_actor, coalesce(p_fencing_token, e.fencing_token), jsonb_build_object('key', p_key, 'state', p_state));
  return 'settled';
end
$$;
