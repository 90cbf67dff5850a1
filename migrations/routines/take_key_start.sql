-- leasehold.take_key_start: takes a start of the job's ordering key, if its queue has a rate limit for keys: true, and the
-- start is on record; or false, and the job is due when the key may start again. Two claims cannot take the last start
-- both: the one that finds the other at it leaves the job as it is. The caller has locked the row. Internal: claim calls it.
create or replace function leasehold.take_key_start(q leasehold.queues, r leasehold.job_state, p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_start timestamptz := p_now;
  v_free boolean;
begin
  if q.key_rate_limit is null or r.ordering_key is null then
    return true;
  end if;
  -- Tried, not waited for: a claim of many jobs may hold the starts of other keys already.
  v_free := pg_try_advisory_xact_lock(leasehold.key_lock_id('key_starts', r.queue, r.ordering_key));
  if v_free then
    v_start := leasehold.key_start_at(q, r.ordering_key, p_now);
  end if;
  if v_start > p_now or r.lane = 0 and not v_free then
    -- A crashed attempt has ended by now, whoever starts the next.
    perform leasehold.put_back(r.job_id, greatest(v_start, clock_timestamp()), r.attempt, r.unknown_failures,
      r.lease_expiries + (r.lane = 0)::int);
  end if;
  if v_start > p_now or not v_free then
    return false;
  end if;
  insert into leasehold.rate_starts (queue, key, at) values (r.queue, r.ordering_key, p_now);
  return true;
end
$$;
