-- leasehold.revive: makes a dead or escalated job live again as the job it was, with fresh budgets; the fencing token goes on.
-- Gives null, or, when another live job has its dedup key, the id of that one: then nothing changes. The caller has locked its
-- keys and its row, and has its transaction id from before it read the clock: the claim's floors rest on that order.
-- Internal: redrive and settle_escalated call it.
--
--   p_due_at   when it is due
--   p_note     for its next holders
--   p_details  of the event redriven; the number of redrives is added
create or replace function leasehold.revive(
  d leasehold.dead_letters,
  p_now timestamptz,
  p_due_at timestamptz,
  p_actor text,
  p_note text,
  p_details jsonb
)
returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_clash uuid;
  j leasehold.jobs;
  q leasehold.queues;
begin
  select * into j from leasehold.jobs where id = d.job_id;
  if j.dedup_key is not null then
    select s.job_id into v_clash
    from leasehold.job_state s
    where s.queue = j.queue and s.dedup_key = j.dedup_key;
    if v_clash is not null then
      return v_clash;
    end if;
  end if;
  select * into q from leasehold.queues where name = j.queue;
  delete from leasehold.dead_letters l where l.job_id = d.job_id;
  insert into leasehold.job_state
    (job_id, due_at, fencing_token, attempt, max_attempts, max_unknown_attempts, retry_until, lane, home_lane, queue,
      ordering_key, dedup_key, key_seq, redrives, note)
  values (
    d.job_id,
    p_due_at,
    d.fencing_token,
    0,
    j.max_attempts,
    coalesce(j.max_unknown_attempts, q.max_unknown_attempts, 3),
    p_now + make_interval(secs => coalesce(j.retry_budget_seconds, q.retry_budget_seconds, 604800)),
    case when j.ordering_key is null then coalesce(d.home_lane, j.home_lane) else 9 end,
    coalesce(d.home_lane, j.home_lane),
    j.queue,
    j.ordering_key,
    j.dedup_key,
    j.key_seq,
    d.redrives + 1,
    p_note
  );
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  values (d.job_id, p_now, 'redriven', p_actor, d.fencing_token,
    p_details || jsonb_build_object('redrives', d.redrives + 1));
  if j.ordering_key is not null then
    perform leasehold.unpark(j.queue, j.ordering_key, p_actor);
  end if;
  return null;
end
$$;
