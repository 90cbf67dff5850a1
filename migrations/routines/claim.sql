-- leasehold.claim: takes due jobs of one queue, one unless asked for more, and gives a lease on each.
--
--   p_queue            exactly one queue, by equality
--   p_owner            who takes it, 1 to 200 characters; every later call on the lease names it
--   p_claim_id         the caller's, new for each claim; repeated it gives the same leases, while they hold nothing else
--   p_lease_seconds    1 to 3600 (default: the queue's)
--   p_lease_at_most    1 to 3600: the time left to the caller; cuts the lease, whatever it was
--   p_limit            1 to 100 jobs (default 1)
--   p_seconds_per_job  1 to 3600 (default 1): run time; no more jobs are given than fit into the lease one after another
--
-- Returns the jobs with their fencing tokens, or no row: nothing is due, the queue is paused or resting, or a limit is reached.
-- The note is what a person wrote who sent the job back. Jobs of a queue whose row was deleted are buried, a few a call.
-- One short transaction: find, lock with skip locked, mark leased, commit. An empty claim of a queue without limits writes nothing.
-- Lanes are read from their floors on, where the queue has any: see leasehold.refresh_claim_floors. A claim that walked many dead
-- entries writes the next ones; before "nothing due" it makes sure that nobody committed a job below them.
-- An expired lease is simply due in lane 0, which goes first in every second claim on average, so that crashed work cannot
-- hold up fresh work; leases with no attempts left are buried or escalated on the way, eight at most a call.
-- Heads of the lanes are compared by due_at less a bonus of five minutes a class: waiting work ages past fresh urgent work
-- with no write. Selecting and updating are two statements, so nothing can re-execute the limit and take two rows.
-- Raises LH001. Example: select * from leasehold.claim('emails', 'worker-7', gen_random_uuid());
-- A result that gains a column is another function to Postgres; calls that run go on in the old one.
do $$ begin
  if pg_get_function_result(to_regprocedure('leasehold.claim(text, text, uuid, int, int, int, int)')) not like '%, note text)' then
    alter function leasehold.claim(text, text, uuid, int, int, int, int) rename to retired_claim;
  end if;
end $$;
create or replace function leasehold.claim(
  p_queue text,
  p_owner text,
  p_claim_id uuid,
  p_lease_seconds int default null,
  p_lease_at_most int default null,
  p_limit int default 1,
  p_seconds_per_job int default null
)
returns table (
  job_id uuid,
  queue text,
  type text,
  payload jsonb,
  headers jsonb,
  schema_version int,
  priority text,
  fencing_token bigint,
  attempt int,
  max_attempts int,
  lease_seconds int,
  lease_expires_at timestamptz,
  lease_remaining_ms bigint,
  run_deadline_at timestamptz,
  run_remaining_ms bigint,
  created_at timestamptz,
  more_due boolean,
  ordering_key text,
  redrives int,
  note text
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_none constant timestamptz[] := array_fill('-infinity'::timestamptz, array[5]);
  v_ageing constant interval := interval '5 minutes';
  v_crashed_first boolean := random() < 0.5;
  v_now timestamptz;
  v_settled int := 0;
  v_peek boolean := true;
  v_looked_again boolean := false;
  v_limit int := p_limit;
  v_lane smallint;
  v_rank timestamptz;
  v_lease_seconds int;
  v_problem text;
  v_verdict text;
  v_busy uuid[] := '{}';
  v_taken leasehold.job_state[] := '{}';
  v_more boolean[] := '{}';
  v_taken_due_at timestamptz;
  v_found record;
  -- Of lanes 0 to 4, in this order: the floor, the due time of the first row and of the one after it.
  f timestamptz[];
  h timestamptz[];
  n timestamptz[];
  v_floors leasehold.claim_floors;
  v_floors_before bigint;
  v_walked bigint;
  q leasehold.queues;
  r leasehold.job_state;
begin
  v_problem := case
    when p_queue is null then 'queue: name the queue to claim from'
    when p_owner is null or char_length(p_owner) not between 1 and 200 then 'owner: give 1 to 200 characters'
    when p_claim_id is null then 'claim_id: give a UUID of your own, new for each claim'
    when p_lease_seconds not between 1 and 3600 then 'lease_seconds: must be between 1 and 3600'
    when p_lease_at_most not between 1 and 3600 then 'lease_at_most: must be between 1 and 3600'
    when p_limit is null or p_limit not between 1 and 100 then 'limit: must be between 1 and 100'
    when p_seconds_per_job not between 1 and 3600 then 'seconds_per_job: must be between 1 and 3600'
  end;
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;

  -- Two calls with one claim id, the second sent while the first still runs, go one after the other.
  perform pg_advisory_xact_lock(hashtextextended('leasehold.claim:' || p_claim_id::text, 0));
  v_now := clock_timestamp();

  -- By claim id alone: with any other column here, stale statistics could choose the claim index and read every lease.
  for r in
    select s.* from leasehold.job_state s where s.claim_id = p_claim_id
  loop
    if r.queue = p_queue and r.owner = p_owner and r.due_at > v_now then
      v_taken := v_taken || r;
      v_more := v_more || leasehold.has_due(p_queue, v_now);
    elsif r.owner = p_owner and r.lane = 0 and r.due_at > v_now then
      -- One claim id, one claim: a caller that goes from queue to queue gets no second job for it.
      return;
    end if;
  end loop;

  if cardinality(v_taken) = 0 then
    select * into q from leasehold.queues where name = p_queue;
    if q.name is null then
      -- Somebody deleted the queue under its jobs: nobody can say how they are to be run, so they wait for a person.
      perform leasehold.bury_orphans(p_queue, v_now, p_owner);
      return;
    end if;
    if q.paused_at is not null or q.push_resume_at > v_now then
      return;
    end if;
    v_lease_seconds := least(coalesce(p_lease_seconds, q.lease_seconds), q.max_run_seconds, p_lease_at_most);
    v_limit := least(v_limit, greatest(1, v_lease_seconds / coalesce(p_seconds_per_job, 1)));
    if q.concurrency_limit is not null or q.rate_limit is not null then
      v_limit := least(v_limit, leasehold.starts_left(q));
    end if;
    -- A limited queue's claims wait for each other: what they start, they start now.
    v_now := clock_timestamp();
    select u.* into v_floors from leasehold.usable_floors(p_queue, v_now) u;
    f := coalesce(v_floors.floors, v_none);
    v_walked := pg_stat_get_xact_tuples_returned('leasehold.job_state_claim'::regclass);
  else
    v_limit := 0;
  end if;

  while cardinality(v_taken) < v_limit loop
    r := null;
    if v_peek then
      select
        array[l0.head, l1.head, l2.head, l3.head, l4.head],
        array[l0.next, l1.next, l2.next, l3.next, l4.next]
      into h, n
      from (select min(p.due_at), case when count(*) = 2 then max(p.due_at) end from (select s.due_at from leasehold.job_state s
        where s.queue = p_queue and s.lane = 0 and s.due_at >= f[1] and s.due_at <= v_now order by s.due_at limit 2) p) l0 (head, next)
      cross join (select min(p.due_at), case when count(*) = 2 then max(p.due_at) end from (select s.due_at from leasehold.job_state s
        where s.queue = p_queue and s.lane = 1 and s.due_at >= f[2] and s.due_at <= v_now order by s.due_at limit 2) p) l1 (head, next)
      cross join (select min(p.due_at), case when count(*) = 2 then max(p.due_at) end from (select s.due_at from leasehold.job_state s
        where s.queue = p_queue and s.lane = 2 and s.due_at >= f[3] and s.due_at <= v_now order by s.due_at limit 2) p) l2 (head, next)
      cross join (select min(p.due_at), case when count(*) = 2 then max(p.due_at) end from (select s.due_at from leasehold.job_state s
        where s.queue = p_queue and s.lane = 3 and s.due_at >= f[4] and s.due_at <= v_now order by s.due_at limit 2) p) l3 (head, next)
      cross join (select min(p.due_at), case when count(*) = 2 then max(p.due_at) end from (select s.due_at from leasehold.job_state s
        where s.queue = p_queue and s.lane = 4 and s.due_at >= f[5] and s.due_at <= v_now order by s.due_at limit 2) p) l4 (head, next);
      v_peek := false;
    end if;
    loop
      v_lane := null;
      v_rank := 'infinity';
      for i in 1 .. 4 loop
        if h[i + 1] - (4 - i) * v_ageing < v_rank then
          v_lane := i;
          v_rank := h[i + 1] - (4 - i) * v_ageing;
        end if;
      end loop;
      if h[1] is not null and (v_crashed_first or v_lane is null) then
        v_lane := 0;
      end if;
      exit when v_lane is null;

      select s.ctid as place, s as state into v_found
      from leasehold.job_state s
      where s.queue = p_queue and s.lane = v_lane and s.due_at >= h[v_lane + 1] and s.due_at <= v_now
        and s.job_id <> all (v_busy)
      order by s.due_at
      limit 1
      for no key update skip locked;

      if not found then
        -- All due rows of this lane are being claimed by others at this instant.
        h[v_lane + 1] := null;
        continue;
      end if;
      r := v_found.state;
      v_now := clock_timestamp(); -- the lock came with a transaction id: the floors rest on that order
      exit when v_lane > 0;
      v_verdict := leasehold.settle_expired_lease(r, v_now, p_owner);
      exit when v_verdict = 'claim';
      if v_verdict = 'busy' then
        v_busy := v_busy || r.job_id;
      end if;
      r := null;
      v_settled := v_settled + 1;
      if v_settled >= 4 then
        h[1] := null;
      end if;
    end loop;
    if r.job_id is null then
      if v_settled > 0 and not v_looked_again then
        -- Settling may have made work due that was not there a moment ago; once more, then it is somebody else's turn.
        v_looked_again := true;
        v_settled := 0;
      elsif cardinality(v_taken) = 0 and exists (
        select 1 from unnest(v_floors.suspects) u (xid) where pg_visible_in_snapshot(u.xid, pg_current_snapshot())
      ) then
        -- Nothing from the floors on, but a writer from before them has ended since.
        perform leasehold.refresh_claim_floors(p_queue, true);
        v_floors_before := v_floors.id;
        select u.* into v_floors from leasehold.usable_floors(p_queue, clock_timestamp()) u where u.id > v_floors_before;
        v_floors.suspects := null; -- looked at just now
        f := coalesce(v_floors.floors, v_none);
      else
        exit;
      end if;
      v_peek := true;
      v_now := clock_timestamp();
      continue;
    end if;

    if q.key_rate_limit is not null and r.ordering_key is not null and not leasehold.take_key_start(q, r, v_now) then
      -- Its key has had its starts for now.
      exit when cardinality(v_busy) >= 50;
      v_busy := v_busy || r.job_id;
      continue;
    end if;

    v_taken_due_at := r.due_at;
    update leasehold.job_state s
    set lane = 0,
      due_at = v_now + make_interval(secs => v_lease_seconds),
      fencing_token = s.fencing_token + 1,
      attempt = s.attempt + 1,
      owner = p_owner,
      claim_id = p_claim_id,
      started_at = v_now,
      run_deadline_at = v_now + make_interval(secs => q.max_run_seconds),
      lease_seconds = v_lease_seconds,
      lease_expiries = s.lease_expiries + (v_lane = 0)::int,
      step = 0,
      progress = null
    where s.ctid = v_found.place and s.job_id = r.job_id -- locked, so it stays in its place
    returning s.* into strict r;

    if q.rate_limit is not null then
      insert into leasehold.rate_starts (queue, at) values (p_queue, v_now);
    end if;

    -- The next row of this lane, read again only where the peek does not tell; null: the lane is empty from here on.
    if v_taken_due_at < n[v_lane + 1] or v_taken_due_at = h[v_lane + 1] and n[v_lane + 1] is null then
      h[v_lane + 1] := n[v_lane + 1];
    else
      h[v_lane + 1] := (
        select s.due_at
        from leasehold.job_state s
        where s.queue = p_queue and s.lane = v_lane and s.due_at between v_taken_due_at and v_now
        order by s.due_at
        limit 1
      );
    end if;
    n[v_lane + 1] := '-infinity'; -- not known
    v_taken := v_taken || r;
    v_more := v_more || (array_remove(h, null) <> '{}');

    insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
    values (r.job_id, v_now, 'claimed', p_owner, r.fencing_token, jsonb_build_object('attempt', r.attempt,
      'lease_seconds', v_lease_seconds, 'waited_ms', floor(extract(epoch from v_now - v_taken_due_at) * 1000)));
  end loop;

  for i in 1 .. cardinality(v_taken) loop
    r := v_taken[i];
    return query
    select j.id, j.queue, j.type, j.payload, j.headers, j.schema_version, leasehold.lane_priority(r.home_lane),
      r.fencing_token, r.attempt, r.max_attempts, r.lease_seconds, r.due_at,
      floor(extract(epoch from r.due_at - v_now) * 1000)::bigint, r.run_deadline_at,
      floor(extract(epoch from r.run_deadline_at - v_now) * 1000)::bigint, j.created_at, v_more[i], r.ordering_key,
      r.redrives, r.note
    from leasehold.jobs j
    where j.id = r.job_id;
  end loop;

  v_walked := pg_stat_get_xact_tuples_returned('leasehold.job_state_claim'::regclass) - v_walked;
  if v_walked > 200 + 4 * v_limit and coalesce(v_floors.at, '-infinity') < v_now - interval '100 milliseconds'
    or v_floors.at not between v_now - interval '500 milliseconds' and v_now
  then
    perform leasehold.refresh_claim_floors(p_queue);
  end if;
end
$$;
