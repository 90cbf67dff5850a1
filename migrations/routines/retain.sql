-- leasehold.retain: one bounded pass of retention and upkeep; the scheduled pass calls it until it says 0.
--
-- Partitions of attempts, finished jobs and events are dropped when their whole week is older than the longest retention of
-- any queue and no job of the week is alive or dead. Rows of jobs that ended longer ago than their queue's retention are
-- deleted, at most p_limit a call; live and dead jobs are never touched. Idempotency keys live p_key_hours. Starts of rate
-- limits and reports on lost leases are forgotten after two days, claim floors after ten minutes. Partitions come and go last, because that locks their tables until the call ends; who
-- wants such a lock holds up all that come after it, so it is wanted for a moment only, and given up until the next call
-- when a long reader is in the way.
--
--   p_limit      1 to 10,000 rows of each kind
--   p_key_hours  1 to 8,760
-- Returns how many rows and partitions went. Example: select leasehold.retain(2000, 24);
create or replace function leasehold.retain(p_limit int, p_key_hours int)
returns int
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '200ms'
as $$
declare
  v_gone int := 0;
  v_count int;
  v_oldest timestamptz;
  v_longest int;
  v_newest uuid;
  v_part record;
  v_from uuid;
  v_to uuid;
begin
  -- v_newest is a value, and no call of a clock in the statement below, so that the index can end the search there.
  select
    coalesce(max(q.retention_days), 30),
    leasehold.job_id_floor(clock_timestamp() - make_interval(days => coalesce(min(q.retention_days), 30)))
  into v_longest, v_newest
  from leasehold.queues q;
  v_oldest := clock_timestamp() - make_interval(days => v_longest);

  -- Payloads first: the finished row tells that a job has ended, so it goes last.
  with old as (
    select j.id
    from leasehold.jobs j
    join leasehold.queues q on q.name = j.queue
    where j.id < v_newest
      and j.id < leasehold.job_id_floor(clock_timestamp() - make_interval(days => q.retention_days))
      and not exists (select 1 from leasehold.job_state s where s.job_id = j.id)
      and not exists (select 1 from leasehold.dead_letters d where d.job_id = j.id)
      and not exists (
        select 1
        from leasehold.finished_jobs f
        where f.job_id = j.id and f.finished_at > clock_timestamp() - make_interval(days => q.retention_days)
      )
    order by j.id
    limit least(greatest(p_limit, 1), 10000)
  ),
  tags as (
    delete from leasehold.job_tags t using old, leasehold.jobs j
    where j.id = old.id and t.job_id = old.id and t.tag = any (j.tags)
  ),
  done_effects as (
    delete from leasehold.effects e using old where e.job_id = old.id
  )
  delete from leasehold.jobs j using old where j.id = old.id;
  get diagnostics v_count = row_count;
  v_gone := v_gone + v_count;

  delete from leasehold.idempotency_keys k
  where k.ctid = any (
    array(
      select i.ctid
      from leasehold.idempotency_keys i
      where i.created_at < clock_timestamp() - make_interval(hours => least(greatest(p_key_hours, 1), 8760))
      limit least(greatest(p_limit, 1), 10000)
    )
  );
  get diagnostics v_count = row_count;
  v_gone := v_gone + v_count;

  delete from leasehold.claim_floors f
  where f.ctid = any (
    array(
      select i.ctid
      from leasehold.claim_floors i
      where i.at < clock_timestamp() - interval '10 minutes'
      order by i.at
      limit least(greatest(p_limit, 1), 10000)
    )
  );
  get diagnostics v_count = row_count;
  v_gone := v_gone + v_count;

  delete from leasehold.rate_starts r
  where r.ctid = any (
    array(
      select s.ctid
      from leasehold.rate_starts s
      where s.at < clock_timestamp() - interval '2 days'
      limit least(greatest(p_limit, 1), 10000)
    )
  );
  get diagnostics v_count = row_count;
  v_gone := v_gone + v_count;

  delete from leasehold.lost_reports r
  where r.ctid = any (
    array(
      select l.ctid
      from leasehold.lost_reports l
      where l.at < clock_timestamp() - interval '2 days'
      order by l.at
      limit least(greatest(p_limit, 1), 10000)
    )
  );
  get diagnostics v_count = row_count;
  v_gone := v_gone + v_count;

  for v_part in
    select c.relname, to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'UTC' as week
    from pg_class c
    where c.relnamespace = 'leasehold'::regnamespace
      and c.relispartition
      and c.relkind = 'r'
      and c.relname ~ '^(attempts|finished_jobs|job_events)_\d{8}$'
    order by c.relname
  loop
    continue when v_part.week + interval '7 days' > v_oldest;
    v_from := leasehold.job_id_floor(v_part.week);
    v_to := leasehold.job_id_floor(v_part.week + interval '7 days');
    -- Its jobs must be gone: then nobody can ask for the history.
    continue when exists (select 1 from leasehold.jobs j where j.id >= v_from and j.id < v_to);
    begin
      execute format('drop table leasehold.%I', v_part.relname);
      v_gone := v_gone + 1;
    exception
      when lock_not_available then
        exit;
    end;
  end loop;
  perform leasehold.ensure_partitions(8);
  return v_gone;
end
$$;
