-- leasehold.set_queue_paused: stops or resumes the claims of a queue; one row, however many jobs wait. Running jobs go on.
--
--   p_queue   the queue; made with default settings when it is not there
--   p_paused  true or false
--   p_actor   who does it, 1 to 200 characters
--   p_reason  for people, up to 1,000 characters
--
-- Returns whether anything changed. Resuming also ends the rest of a push target. Example:
-- select leasehold.set_queue_paused('emails', true, 'maria', 'provider is down');
create or replace function leasehold.set_queue_paused(
  p_queue text,
  p_paused boolean,
  p_actor text,
  p_reason text default null
)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := leasehold.name_problem('queue', p_queue);
begin
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;
  if p_actor is null or char_length(p_actor) not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'actor: give 1 to 200 characters';
  end if;
  insert into leasehold.queues (name) values (p_queue) on conflict do nothing;
  update leasehold.queues
  set paused_at = case when p_paused then clock_timestamp() end,
    paused_by = case when p_paused then p_actor end,
    pause_reason = case when p_paused then left(p_reason, 1000) end,
    push_failures = case when p_paused then push_failures else 0 end,
    push_resume_at = case when p_paused then push_resume_at end
  where name = p_queue
    and ((paused_at is not null) <> p_paused or (not p_paused and push_resume_at is not null));
  if not found then
    return false;
  end if;
  insert into leasehold.queue_events (queue, type, actor, details)
  values (p_queue, case when p_paused then 'paused' else 'resumed' end, p_actor,
    jsonb_build_object('reason', left(p_reason, 1000)));
  return true;
end
$$;
