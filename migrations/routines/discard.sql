-- leasehold.discard: gives chosen dead jobs up; they end as cancelled, and an ordering key that they blocked goes on.
--
--   p_job_ids  a JSON array of 1 to 1,000 ids
--   p_reason   mandatory, 1 to 1,000 characters
--   p_actor    who does it, 1 to 200 characters
--
-- Returns a row an id: discarded; or not_dead, as an escalated one is: it is discarded by who holds it. Raises LH001.
-- Example: select * from leasehold.discard('["…"]', 'customer left', 'maria');
create or replace function leasehold.discard(p_job_ids jsonb, p_reason text, p_actor text)
returns table (job_id uuid, outcome text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids uuid[];
  v_id uuid;
  d leasehold.dead_letters;
begin
  perform leasehold.check_settling(p_job_ids, p_reason, p_actor);
  select array_agg(distinct i.id::uuid order by i.id::uuid) into v_ids from jsonb_array_elements_text(p_job_ids) i (id);
  perform leasehold.lock_keys_of(v_ids);
  foreach v_id in array v_ids loop
    d := null;
    delete from leasehold.dead_letters l where l.job_id = v_id and l.state = 'dead' returning l.* into d;
    if d.job_id is null then
      return query select v_id, 'not_dead';
      continue;
    end if;
    insert into leasehold.finished_jobs (job_id, state, attempt, fencing_token, finished_at, finished_by, reason)
    values (v_id, 'cancelled', d.attempt, d.fencing_token, clock_timestamp(), p_actor, p_reason);
    insert into leasehold.job_events (job_id, type, actor, fencing_token, details)
    values (v_id, 'discarded', p_actor, d.fencing_token, jsonb_build_object('reason', p_reason));
    if d.blocks_key is not null then
      perform leasehold.unpark(d.queue, d.blocks_key, p_actor);
    end if;
    return query select v_id, 'discarded';
  end loop;
end
$$;
