-- leasehold.claim: takes due jobs of one queue, one unless asked for more, and gives a lease on each.
--
--   p_queue            exactly one queue, by equality
--   p_owner            who takes it, 1 to 200 characters; every later call on the lease names it
--   p_claim_id         chosen by the caller and new for each claim; repeated after a lost answer it gives the same leases,
--                      and while these hold, nothing from another queue
--   p_lease_seconds    1 to 3600 (default: the queue's)
--   p_lease_at_most    1 to 3600: the time left to the caller; cuts the lease whatever it was (default: no cut)
--   p_limit            1 to 100 jobs (default 1)
--   p_seconds_per_job  1 to 3600: expected run time; no more jobs are given than fit into the lease one after another
--                      (default: 1 s)
--
-- Returns the jobs with their fencing tokens, or no row: nothing is due, the queue is paused or resting, or a limit is
-- reached. Jobs of a queue whose row was deleted are buried, a few a call. One short transaction: find, lock with skip locked, mark leased, commit; nothing stays open while a job runs.
-- An empty claim of a queue without limits writes nothing.
-- An expired lease is simply due in lane 0. Lane 0 goes first in every second claim on average, so that crashed work
-- cannot hold up fresh work; leases with no attempts left are buried on the way, eight at most a call.
-- Heads of the lanes are compared by due_at less a bonus of five minutes a class: waiting work ages past fresh urgent work
-- with no write. Selecting and updating are two statements, so nothing can re-execute the limit and take two rows.
-- Raises LH001. Example: select * from leasehold.claim('emails', 'worker-7', gen_random_uuid());
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
  redrives int
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
  v_now timestamptz;
  v_ageing constant interval := interval '5 minutes';
  v_crashed_first boolean := random() < 0.5;
  v_settled int := 0;
  v_peek boolean := true;
  v_looked_again boolean := false;
  v_taken int := 0;
  v_limit int := p_limit;
  v_lane smallint;
  v_rank timestamptz;
  v_lease_seconds int;
  v_verdict text;
  v_busy uuid[] := '{}';
  v_more_due boolean;
  v_taken_due_at timestamptz;
  h0 timestamptz;
  h1 timestamptz;
  h2 timestamptz;
  h3 timestamptz;
  h4 timestamptz;
  q leasehold.queues;
  r leasehold.job_state;
begin
  if p_queue is null then
    raise exception using errcode = 'LH001', message = 'queue: name the queue to claim from';
  end if;
  if p_owner is null or char_length(p_owner) not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'owner: give 1 to 200 characters';
  end if;
  if p_claim_id is null then
    raise exception using errcode = 'LH001', message = 'claim_id: give a UUID of your own, new for each claim';
  end if;
  if p_lease_seconds not between 1 and 3600 then
    raise exception using errcode = 'LH001', message = 'lease_seconds: must be between 1 and 3600';
  end if;
  if p_lease_at_most not between 1 and 3600 then
    raise exception using errcode = 'LH001', message = 'lease_at_most: must be between 1 and 3600';
  end if;
  if p_limit is null or p_limit not between 1 and 100 then
    raise exception using errcode = 'LH001', message = 'limit: must be between 1 and 100';
  end if;
  if p_seconds_per_job not between 1 and 3600 then
    raise exception using errcode = 'LH001', message = 'seconds_per_job: must be between 1 and 3600';
  end if;

  -- Two calls with one claim id, the second sent while the first still runs, go one after the other.
  perform pg_advisory_xact_lock(hashtextextended('leasehold.claim:' || p_claim_id::text, 0));
  v_now := clock_timestamp();

  -- By claim id alone: with any other column here, stale statistics could choose the claim index and read every lease.
  for r in
    select s.* from leasehold.job_state s where s.claim_id = p_claim_id
  loop
    if r.queue = p_queue and r.owner = p_owner and r.due_at > v_now then
      v_taken := v_taken + 1;
      return query
      select
        j.id, j.queue, j.type, j.payload, j.headers, j.schema_version, leasehold.lane_priority(r.home_lane),
        r.fencing_token, r.attempt, r.max_attempts, r.lease_seconds, r.due_at,
        floor(extract(epoch from r.due_at - v_now) * 1000)::bigint, r.run_deadline_at,
        floor(extract(epoch from r.run_deadline_at - v_now) * 1000)::bigint, j.created_at,
        leasehold.has_due(p_queue, v_now), r.ordering_key, r.redrives
      from leasehold.jobs j
      where j.id = r.job_id;
    elsif r.owner = p_owner and r.lane = 0 and r.due_at > v_now then
      -- One claim id, one claim: a caller that goes from queue to queue gets no second job for it.
      return;
    end if;
  end loop;
  if v_taken > 0 then
    return;
  end if;

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
  v_limit := least(v_limit, greatest(1, v_lease_seconds / coalesce(p_seconds_per_job, 1)), leasehold.starts_left(q));
  if v_limit <= 0 then
    return;
  end if;
  -- A limited queue's claims wait for each other: what they start, they start now.
  v_now := clock_timestamp();

  while v_taken < v_limit loop
    r := null;
    if v_peek then
      select
        (select s.due_at from leasehold.job_state s
          where s.queue = p_queue and s.lane = 0 and s.due_at <= v_now order by s.due_at limit 1),
        (select s.due_at from leasehold.job_state s
          where s.queue = p_queue and s.lane = 1 and s.due_at <= v_now order by s.due_at limit 1),
        (select s.due_at from leasehold.job_state s
          where s.queue = p_queue and s.lane = 2 and s.due_at <= v_now order by s.due_at limit 1),
        (select s.due_at from leasehold.job_state s
          where s.queue = p_queue and s.lane = 3 and s.due_at <= v_now order by s.due_at limit 1),
        (select s.due_at from leasehold.job_state s
          where s.queue = p_queue and s.lane = 4 and s.due_at <= v_now order by s.due_at limit 1)
      into h0, h1, h2, h3, h4;
      v_peek := false;
    end if;
    loop
      v_lane := null;
      v_rank := 'infinity';
      if h1 - 3 * v_ageing < v_rank then v_lane := 1; v_rank := h1 - 3 * v_ageing; end if;
      if h2 - 2 * v_ageing < v_rank then v_lane := 2; v_rank := h2 - 2 * v_ageing; end if;
      if h3 - v_ageing < v_rank then v_lane := 3; v_rank := h3 - v_ageing; end if;
      if h4 < v_rank then v_lane := 4; end if;
      if h0 is not null and (v_crashed_first or v_lane is null) then v_lane := 0; end if;
      exit when v_lane is null;

      select s.* into r
      from leasehold.job_state s
      where s.queue = p_queue and s.lane = v_lane and s.due_at <= v_now and s.job_id <> all (v_busy)
      order by s.due_at
      limit 1
      for no key update skip locked;

      if r.job_id is null then
        -- All due rows of this lane are being claimed by others at this instant.
        case v_lane
          when 0 then h0 := null;
          when 1 then h1 := null;
          when 2 then h2 := null;
          when 3 then h3 := null;
          else h4 := null;
        end case;
        continue;
      end if;
      exit when v_lane > 0;
      v_verdict := leasehold.settle_expired_lease(r, v_now, p_owner);
      exit when v_verdict = 'claim';
      if v_verdict = 'busy' then
        v_busy := v_busy || r.job_id;
      end if;
      r := null;
      v_settled := v_settled + 1;
      if v_settled >= 4 then
        h0 := null;
      end if;
    end loop;
    if r.job_id is null then
      -- Settling may have made work due that was not there a moment ago; once more, then it is somebody else's turn.
      exit when v_settled = 0 or v_looked_again;
      v_looked_again := true;
      v_peek := true;
      v_settled := 0;
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
    where s.job_id = r.job_id
    returning s.* into r;
    v_taken := v_taken + 1;

    if q.rate_limit is not null then
      insert into leasehold.rate_starts (queue, at) values (p_queue, v_now);
    end if;

    -- Another lane had a head, or this lane has a row behind the one taken.
    v_more_due := exists (
      select 1
      from leasehold.job_state s
      where s.queue = p_queue and s.lane = v_lane and s.due_at between v_taken_due_at and v_now
    );
    if not v_more_due and v_limit > 1 then
      case v_lane
        when 0 then h0 := null;
        when 1 then h1 := null;
        when 2 then h2 := null;
        when 3 then h3 := null;
        else h4 := null;
      end case;
    end if;
    v_more_due := v_more_due
      or (v_lane <> 0 and h0 is not null)
      or (v_lane <> 1 and h1 is not null)
      or (v_lane <> 2 and h2 is not null)
      or (v_lane <> 3 and h3 is not null)
      or (v_lane <> 4 and h4 is not null);

    insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
    values (r.job_id, v_now, 'claimed', p_owner, r.fencing_token,
      jsonb_build_object('attempt', r.attempt, 'lease_seconds', v_lease_seconds));

    return query
    select
      j.id, j.queue, j.type, j.payload, j.headers, j.schema_version, leasehold.lane_priority(r.home_lane),
      r.fencing_token, r.attempt, r.max_attempts, r.lease_seconds, r.due_at,
      floor(extract(epoch from r.due_at - v_now) * 1000)::bigint, r.run_deadline_at,
      floor(extract(epoch from r.run_deadline_at - v_now) * 1000)::bigint, j.created_at, v_more_due, r.ordering_key,
      r.redrives
    from leasehold.jobs j
    where j.id = r.job_id;
  end loop;
end
$$;
