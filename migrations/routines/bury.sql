-- leasehold.bury: moves a live job to the dead letters, as dead or as escalated (p_state). The caller has locked its row, and
-- its ordering key before that. Whether it blocks its key from there is the queue's choice (on_dead). What a person once wrote
-- for the next holder goes with it. Internal.
do $$ begin
  if to_regprocedure('leasehold.bury(leasehold.job_state, timestamptz, text, text, jsonb)') is not null then
    alter function leasehold.bury(leasehold.job_state, timestamptz, text, text, jsonb) rename to retired_bury;
  end if;
end $$;
create or replace function leasehold.bury(
  r leasehold.job_state,
  p_now timestamptz,
  p_actor text,
  p_reason text,
  p_error jsonb,
  p_state text default 'dead'
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_blocks boolean := false;
begin
  delete from leasehold.job_state where job_id = r.job_id;
  if r.ordering_key is not null then
    select coalesce((select q.on_dead = 'block' from leasehold.queues q where q.name = r.queue), true) into v_blocks;
  end if;
  insert into leasehold.dead_letters
    (job_id, queue, state, reason, error, attempt, fencing_token, dead_at, home_lane, redrives, note, blocks_key)
  values
    (r.job_id, r.queue, p_state, p_reason, p_error, r.attempt, r.fencing_token, p_now, r.home_lane, r.redrives, r.note,
      case when v_blocks then r.ordering_key end);
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  values (r.job_id, p_now, p_state, p_actor, r.fencing_token,
    jsonb_strip_nulls(jsonb_build_object(
      'reason', p_reason, 'question', case when p_reason = 'asked_for_human' then p_error ->> 'message' end
    )));
  if r.ordering_key is not null and not v_blocks then
    perform leasehold.unpark(r.queue, r.ordering_key, p_actor);
  end if;
end
$$;
