-- leasehold.settle: settles expired leases of a queue that nobody claims from; the drain calls it.
--
--   p_queue  the queue
--   p_limit  at most this many leases, 1 to 100
--   p_actor  recorded in the log
--
-- Returns how many were settled: back to pending (the first expiry at once, later ones with backoff), cancelled,
-- dead or with a person.
-- Each row is locked, checked and moved in one go: an owner that completes or beats in between wins and nothing is undone.
-- Example: select leasehold.settle('emails', 20, 'drain');
create or replace function leasehold.settle(p_queue text, p_limit int, p_actor text)
returns int
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_settled int := 0;
  v_verdict text;
  v_busy uuid[] := '{}';
  r leasehold.job_state;
begin
  while v_settled < least(greatest(p_limit, 0), 100) loop
    select s.* into r
    from leasehold.job_state s
    where s.queue = p_queue and s.lane = 0 and s.due_at <= v_now and s.job_id <> all (v_busy)
    order by s.due_at
    limit 1
    for no key update skip locked;
    exit when r.job_id is null;
    v_verdict := leasehold.settle_expired_lease(r, v_now, p_actor);
    if v_verdict = 'busy' then
      -- Others behind it need not wait for whoever holds its key.
      exit when cardinality(v_busy) >= 20;
      v_busy := v_busy || r.job_id;
      continue;
    end if;
    if v_verdict = 'claim' then
      perform leasehold.put_back(r.job_id, clock_timestamp(), r.attempt, r.unknown_failures, r.lease_expiries + 1);
    end if;
    v_settled := v_settled + 1;
  end loop;
  return v_settled;
end
$$;
