-- leasehold.cancel: calls a job off.
--
--   p_job_id  the job
--   p_actor   who calls it off, 1 to 200 characters
--   p_reason  for people, up to 1,000 characters
--
-- Returns one word: cancelled (it was pending, and has ended); cancel_requested (it runs: its holder hears at the next
-- heartbeat, and whatever the attempt reports, even success, the job ends as cancelled); already_ended; or not_found.
-- A dead job is not cancelled but discarded. Safe to repeat.
-- Example: select leasehold.cancel('…', 'maria', 'ordered twice');
create or replace function leasehold.cancel(p_job_id uuid, p_actor text, p_reason text default null)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r leasehold.job_state;
begin
  if p_actor is null or char_length(p_actor) not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'actor: give 1 to 200 characters';
  end if;
  perform leasehold.lock_keys_of(array[p_job_id]);
  select s.* into r from leasehold.job_state s where s.job_id = p_job_id for no key update;
  if r.job_id is null then
    if exists (select 1 from leasehold.jobs j where j.id = p_job_id) then
      return 'already_ended';
    end if;
    return 'not_found';
  end if;
  if r.lane = 0 and r.due_at > clock_timestamp() then
    if r.cancel_requested_at is null then
      update leasehold.job_state
      set cancel_requested_at = clock_timestamp(),
        cancel_requested_by = p_actor,
        cancel_reason = left(p_reason, 1000)
      where job_id = p_job_id;
      insert into leasehold.job_events (job_id, type, actor, fencing_token, details)
      values (p_job_id, 'cancel_requested', p_actor, r.fencing_token,
        jsonb_build_object('reason', left(p_reason, 1000)));
    end if;
    return 'cancel_requested';
  end if;
  if r.lane = 0 then
    -- Its lease ran out: that attempt ends here too.
    r.cancel_requested_at := coalesce(r.cancel_requested_at, clock_timestamp());
    r.cancel_requested_by := coalesce(r.cancel_requested_by, p_actor);
    r.cancel_reason := coalesce(r.cancel_reason, left(p_reason, 1000));
    perform leasehold.settle_expired_lease(r, clock_timestamp(), p_actor);
  else
    perform leasehold.end_cancelled(r, p_actor, p_reason);
  end if;
  return 'cancelled';
end
$$;
