-- leasehold.bury_orphans: buries due jobs of a queue that has no row any more, eight at most a call, so that they are seen
-- instead of waiting for ever or running under settings that nobody gave. Internal: claim calls it.
create or replace function leasehold.bury_orphans(p_queue text, p_now timestamptz, p_actor text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lane smallint;
  v_buried int := 0;
  r leasehold.job_state;
begin
  foreach v_lane in array array[1, 2, 3, 4, 0]::smallint[] loop
    while v_buried < 8 loop
      select s.* into r
      from leasehold.job_state s
      where s.queue = p_queue and s.lane = v_lane and s.due_at <= p_now
      order by s.due_at
      limit 1
      for no key update skip locked;
      exit when r.job_id is null;
      -- The row is locked already, so a key that someone holds means: not now.
      exit when r.ordering_key is not null
        and not pg_try_advisory_xact_lock(leasehold.key_lock_id('ordering', r.queue, r.ordering_key));
      if v_lane = 0 then
        insert into leasehold.attempts
          (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state, error_code)
        values (r.job_id, r.fencing_token, r.attempt, r.owner, r.started_at, p_now, 'lease_expired', 'dead',
          'queue_deleted');
        insert into leasehold.job_events (job_id, at, type, actor, fencing_token)
        values (r.job_id, p_now, 'lease_expired', p_actor, r.fencing_token);
      end if;
      perform leasehold.bury(r, p_now, p_actor, 'queue_deleted', jsonb_build_object(
        'code', 'queue_deleted',
        'message', 'The queue of this job has no settings any more. Make it again, then redrive the job.'
      ));
      v_buried := v_buried + 1;
    end loop;
  end loop;
end
$$;
