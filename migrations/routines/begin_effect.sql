-- leasehold.begin_effect: records that the attempt is about to do something outside the database.
--
--   p_job_id, p_owner, p_fencing_token  the lease, unexpired
--   p_key  names the effect within the job, 1 to 200 characters
--
-- Returns one row: run (do it now); done, with the result on record (do not do it again); uncertain: an earlier attempt
-- began it and nobody knows how it ended, so reconcile first, then call settle_effect; or lease_lost.
-- Repeated by the same attempt it says run again. Example: select * from leasehold.begin_effect('…', 'w', 3, 'charge');
create or replace function leasehold.begin_effect(p_job_id uuid, p_owner text, p_fencing_token bigint, p_key text)
returns table (outcome text, result jsonb)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  e leasehold.effects;
begin
  if p_key is null or char_length(p_key) not between 1 and 200 or p_key ~ '[[:cntrl:]]' then
    raise exception using errcode = 'LH001', message = 'key: give 1 to 200 characters, no control characters';
  end if;
  perform 1
  from leasehold.job_state s
  where s.job_id = p_job_id
    and s.fencing_token = p_fencing_token
    and s.owner = p_owner
    and s.lane = 0
    and s.due_at > clock_timestamp()
  for no key update;
  if not found then
    return query select 'lease_lost', null::jsonb;
    return;
  end if;
  select * into e from leasehold.effects f where f.job_id = p_job_id and f.key = p_key;
  if e.state = 'done' then
    return query select 'done', e.result;
  elsif e.state = 'started' and e.fencing_token < p_fencing_token then
    insert into leasehold.job_events (job_id, type, actor, fencing_token, details)
    values (p_job_id, 'effect_uncertain', p_owner, p_fencing_token, jsonb_build_object('key', p_key));
    return query select 'uncertain', null::jsonb;
  else
    if e.state is distinct from 'started' then
      insert into leasehold.effects (job_id, key, state, fencing_token, started_at)
      values (p_job_id, p_key, 'started', p_fencing_token, clock_timestamp())
      on conflict (job_id, key) do update
      set state = 'started',
        fencing_token = excluded.fencing_token,
        started_at = excluded.started_at,
        settled_at = null,
        settled_by = null;
      insert into leasehold.job_events (job_id, type, actor, fencing_token, details)
      values (p_job_id, 'effect_started', p_owner, p_fencing_token, jsonb_build_object('key', p_key));
    end if;
    return query select 'run', null::jsonb;
  end if;
end
$$;
