-- leasehold.redrive: sends chosen dead jobs back, each as the job it was: id, payload, keys, tags and history stay, the
-- budgets are fresh, the fencing token goes on.
--
--   p_job_ids     a JSON array of 1 to 1,000 ids
--   p_reason      mandatory, 1 to 1,000 characters
--   p_actor       who does it, 1 to 200 characters
--   p_per_second  1 to 1,000: they become due at this rate instead of all at once (default: all at once)
--
-- Returns a row an id: redriven; dedup_key_taken when another live job has its dedup key, then it stays dead and the job
-- is named in clash; or not_dead. A job of an ordering key takes its old place in it. Raises LH001.
-- Example: select * from leasehold.redrive('["…"]', 'the bug is fixed', 'maria');
create or replace function leasehold.redrive(
  p_job_ids jsonb,
  p_reason text,
  p_actor text,
  p_per_second int default null
)
returns table (job_id uuid, outcome text, clash uuid)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids uuid[];
  v_id uuid;
  v_now timestamptz;
  v_sent int := 0;
  v_clash uuid;
  j leasehold.jobs;
  d leasehold.dead_letters;
  q leasehold.queues;
begin
  perform leasehold.check_settling(p_job_ids, p_reason, p_actor);
  if p_per_second not between 1 and 1000 then
    raise exception using errcode = 'LH001', message = 'per_second: must be between 1 and 1000';
  end if;
  select array_agg(distinct i.id::uuid order by i.id::uuid) into v_ids from jsonb_array_elements_text(p_job_ids) i (id);
  perform leasehold.lock_keys_of(v_ids);
  -- The transaction id first, then the clock: the claim's floors rest on that order.
  perform pg_current_xact_id();
  v_now := clock_timestamp();

  foreach v_id in array v_ids loop
    d := null;
    select l.* into d from leasehold.dead_letters l where l.job_id = v_id for update;
    if d.job_id is null then
      return query select v_id, 'not_dead', null::uuid;
      continue;
    end if;
    select * into j from leasehold.jobs where id = v_id;
    if j.dedup_key is not null then
      v_clash := null;
      select s.job_id into v_clash
      from leasehold.job_state s
      where s.queue = j.queue and s.dedup_key = j.dedup_key;
      if v_clash is not null then
        return query select v_id, 'dedup_key_taken', v_clash;
        continue;
      end if;
    end if;
    select * into q from leasehold.queues where name = j.queue;
    delete from leasehold.dead_letters l where l.job_id = v_id;
    insert into leasehold.job_state
      (job_id, due_at, fencing_token, attempt, max_attempts, max_unknown_attempts, retry_until, lane, home_lane, queue,
        ordering_key, dedup_key, key_seq, redrives)
    values (
      v_id,
      v_now + make_interval(secs => coalesce(v_sent / p_per_second::double precision, 0)),
      d.fencing_token,
      0,
      j.max_attempts,
      coalesce(j.max_unknown_attempts, q.max_unknown_attempts, 3),
      v_now + make_interval(secs => coalesce(j.retry_budget_seconds, q.retry_budget_seconds, 604800)),
      case when j.ordering_key is null then coalesce(d.home_lane, j.home_lane) else 9 end,
      coalesce(d.home_lane, j.home_lane),
      j.queue,
      j.ordering_key,
      j.dedup_key,
      j.key_seq,
      d.redrives + 1
    );
    insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
    values (v_id, v_now, 'redriven', p_actor, d.fencing_token,
      jsonb_build_object('reason', p_reason, 'redrives', d.redrives + 1));
    if j.ordering_key is not null then
      perform leasehold.unpark(j.queue, j.ordering_key, p_actor);
    end if;
    v_sent := v_sent + 1;
    return query select v_id, 'redriven', null::uuid;
  end loop;
end
$$;
