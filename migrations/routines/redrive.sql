-- leasehold.redrive: sends chosen dead jobs back, each as the job it was: id, payload, keys, tags and history stay, the
-- budgets are fresh, the fencing token goes on.
--
--   p_job_ids     a JSON array of 1 to 1,000 ids
--   p_reason      mandatory, 1 to 1,000 characters
--   p_actor       who does it, 1 to 200 characters
--   p_per_second  1 to 1,000: they become due at this rate instead of all at once (default: all at once)
--
-- Returns a row an id: redriven; dedup_key_taken when another live job has its dedup key, then it stays dead and the job
-- is named in clash; or not_dead, as an escalated one is: who holds it sends it back. A job of an ordering key takes its old
-- place in it. Raises LH001.
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
  d leasehold.dead_letters;
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
    select l.* into d from leasehold.dead_letters l where l.job_id = v_id and l.state = 'dead' for update;
    if d.job_id is null then
      return query select v_id, 'not_dead', null::uuid;
      continue;
    end if;
    v_clash := leasehold.revive(
      d, v_now, v_now + make_interval(secs => coalesce(v_sent / p_per_second::double precision, 0)), p_actor, null,
      jsonb_build_object('reason', p_reason)
    );
    if v_clash is not null then
      return query select v_id, 'dedup_key_taken', v_clash;
      continue;
    end if;
    v_sent := v_sent + 1;
    return query select v_id, 'redriven', null::uuid;
  end loop;
end
$$;
