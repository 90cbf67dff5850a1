-- leasehold.record_push: keeps count of failed pushes in a row to a queue's target, so that a dead endpoint rests instead
-- of taking everyone's time: from the fifth failure on, claims of the queue wait 5 s, doubling up to 10 minutes. A success
-- ends it. Jobs that wait for a resting target spend no attempts. A healthy target writes nothing.
--
--   p_queue, p_ok  the queue, and whether the push got an answer that was no time-out and no 5xx
--
-- Returns when claims go on, or null. Example: select leasehold.record_push('webhooks', false);
create or replace function leasehold.record_push(p_queue text, p_ok boolean)
returns timestamptz
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rest_from constant int := 5;
  q leasehold.queues;
begin
  if p_ok then
    update leasehold.queues
    set push_failures = 0,
      push_resume_at = null
    where name = p_queue and push_failures > 0;
    return null;
  end if;
  update leasehold.queues
  set push_failures = push_failures + 1,
    push_resume_at = case
      when push_failures + 1 >= v_rest_from then
        clock_timestamp() + make_interval(secs => least(600, 5 * power(2, least(push_failures + 1 - v_rest_from, 10))))
    end
  where name = p_queue
  returning * into q;
  if q.push_failures = v_rest_from then
    insert into leasehold.queue_events (queue, type, actor, details)
    values (p_queue, 'push_rested', 'push', jsonb_build_object('failures', q.push_failures,
      'resume_at', leasehold.iso(q.push_resume_at)));
  end if;
  return q.push_resume_at;
end
$$;
