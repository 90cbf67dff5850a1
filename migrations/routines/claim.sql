-- leasehold.claim: takes one due job of one queue and gives a lease on it.
--
--   p_queue          exactly one queue, by equality
--   p_owner          who takes it, 1 to 200 characters; every later call on the lease names it
--   p_claim_id       chosen by the caller and new for each claim; repeated after a lost answer it gives the same lease
--   p_lease_seconds  1 to 3600, never more than the time left to the caller (default: the queue's)
--
-- Returns the job with its fencing token, or no row when nothing is due. One short transaction: find, lock with
-- skip locked, mark leased, commit; nothing stays open while the job runs. An empty claim writes nothing.
-- An expired lease is simply due in lane 0. Lane 0 goes first in every second claim on average, so that crashed work
-- cannot hold up fresh work; leases with no attempts left are buried on the way, four at most a call.
-- Heads of the lanes are compared by due_at less a bonus of five minutes a class: waiting work ages past fresh urgent work
-- with no write. Selecting and updating are two statements, so nothing can re-execute the limit and take two rows.
-- Raises LH001. Example: select * from leasehold.claim('emails', 'worker-7', gen_random_uuid());
create or replace function leasehold.claim(
  p_queue text,
  p_owner text,
  p_claim_id uuid,
  p_lease_seconds int default null
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
  more_due boolean
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
  v_lane smallint;
  v_rank timestamptz;
  v_lease_seconds int;
  v_max_run_seconds int;
  v_more_due boolean;
  v_taken_due_at timestamptz;
  h0 timestamptz;
  h1 timestamptz;
  h2 timestamptz;
  h3 timestamptz;
  h4 timestamptz;
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

  -- Two calls with one claim id, the second sent while the first still runs, go one after the other.
  perform pg_advisory_xact_lock(hashtextextended('leasehold.claim:' || p_claim_id::text, 0));
  v_now := clock_timestamp();

  -- By claim id alone: with any other column here, stale statistics could choose the claim index and read every lease.
  -- It may lie on an expired lease too, when it was repeated after that: the lease that still holds is the answer.
  for r in
    select s.*
    from leasehold.job_state s
    where s.claim_id = p_claim_id
  loop
    exit when r.queue = p_queue and r.owner = p_owner and r.due_at > v_now;
  end loop;

  if r.job_id is null or r.queue <> p_queue or r.owner <> p_owner or r.due_at <= v_now then
    r := null;
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
      where s.queue = p_queue and s.lane = v_lane and s.due_at <= v_now
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
      exit when leasehold.settle_expired_lease(r, v_now, p_owner) = 'claim';
      r := null;
      v_settled := v_settled + 1;
      if v_settled >= 4 then
        h0 := null;
      end if;
    end loop;

    if r.job_id is null then
      return;
    end if;

    v_taken_due_at := r.due_at;
    select least(coalesce(p_lease_seconds, q.lease_seconds), q.max_run_seconds), q.max_run_seconds
    into v_lease_seconds, v_max_run_seconds
    from leasehold.queues q
    where q.name = p_queue;

    update leasehold.job_state s
    set lane = 0,
      due_at = v_now + make_interval(secs => v_lease_seconds),
      fencing_token = s.fencing_token + 1,
      attempt = s.attempt + 1,
      owner = p_owner,
      claim_id = p_claim_id,
      started_at = v_now,
      run_deadline_at = v_now + make_interval(secs => v_max_run_seconds),
      lease_seconds = v_lease_seconds,
      lease_expiries = s.lease_expiries + (v_lane = 0)::int,
      step = 0,
      progress = null
    where s.job_id = r.job_id
    returning s.* into r;

    -- Another lane had a head, or this lane has a row behind the one taken.
    v_more_due := (v_lane <> 0 and h0 is not null)
      or (v_lane <> 1 and h1 is not null)
      or (v_lane <> 2 and h2 is not null)
      or (v_lane <> 3 and h3 is not null)
      or (v_lane <> 4 and h4 is not null)
      or exists (
        select 1
        from leasehold.job_state s
        where s.queue = p_queue and s.lane = v_lane and s.due_at between v_taken_due_at and v_now
      );

    insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
    values (r.job_id, v_now, 'claimed', p_owner, r.fencing_token,
      jsonb_build_object('attempt', r.attempt, 'lease_seconds', v_lease_seconds));
  else
    v_more_due := leasehold.has_due(p_queue, v_now);
  end if;

  return query
  select
    j.id,
    j.queue,
    j.type,
    j.payload,
    j.headers,
    j.schema_version,
    leasehold.lane_priority(j.home_lane),
    r.fencing_token,
    r.attempt,
    r.max_attempts,
    r.lease_seconds,
    r.due_at,
    floor(extract(epoch from r.due_at - v_now) * 1000)::bigint,
    r.run_deadline_at,
    floor(extract(epoch from r.run_deadline_at - v_now) * 1000)::bigint,
    j.created_at,
    v_more_due
  from leasehold.jobs j
  where j.id = r.job_id;
end
$$;
