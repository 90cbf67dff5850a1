-- leasehold.starts_left: how many jobs of a limited queue may start now, by its concurrency and its rate; null: no limit.
-- Takes the queue's lock when it has a limit, so that two claims cannot both take the last place; a queue without limits
-- pays nothing. Live leases and starts are counted up to the limit only, and no counter row exists. Internal.
create or replace function leasehold.starts_left(q leasehold.queues)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz;
  v_left int;
begin
  if q.concurrency_limit is null and q.rate_limit is null then
    return null;
  end if;
  perform pg_advisory_xact_lock(leasehold.key_lock_id('limits', q.name, ''));
  v_now := clock_timestamp();
  if q.concurrency_limit is not null then
    select q.concurrency_limit - count(*)
    into v_left
    from (
      select 1
      from leasehold.job_state s
      where s.queue = q.name and s.lane = 0 and s.due_at > v_now
      limit q.concurrency_limit
    ) live;
  end if;
  if q.rate_limit is not null then
    select least(v_left, q.rate_limit - count(*))
    into v_left
    from (
      select 1
      from leasehold.rate_starts s
      where s.queue = q.name and s.key is null and s.at > v_now - make_interval(secs => q.rate_interval_ms / 1000.0)
      limit q.rate_limit
    ) recent;
  end if;
  return v_left;
end
$$;
