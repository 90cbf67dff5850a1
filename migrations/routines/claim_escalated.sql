-- leasehold.claim_escalated: a person takes an escalated job: the one that has waited longest, or the one they chose. Their hold
-- is a lease like an agent's, with owner, fencing token and expiry, so that two people never work on one job.
--
--   p_owner          who takes it, 1 to 200 characters
--   p_claim_id       chosen by the caller and new for each claim; repeated with the same wish it gives the same hold
--   p_queue          only of this queue (default: any)
--   p_job_id         only this job (default: any); one that the caller holds already stays theirs, under the same token
--   p_lease_seconds  1 to 86400 (default 900); where the caller holds the job already, one that reaches further lengthens that
--   p_only           a JSON array: only of these queues, for a caller who may not learn of others (default: all)
--
-- Returns one row, or none: nothing is escalated, or others hold it. A hold that ran out is simply free; the claim that takes it
-- writes lease_expired. Pauses and limits of a queue hold workers, not people. The error tells why the job is here; with the
-- reason asked_for_human its message is the holder's question. Raises LH001.
-- Example: select * from leasehold.claim_escalated('maria', gen_random_uuid(), 'refunds');
create or replace function leasehold.claim_escalated(
  p_owner text,
  p_claim_id uuid,
  p_queue text default null,
  p_job_id uuid default null,
  p_lease_seconds int default null,
  p_only jsonb default null
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
  redrives int,
  ordering_key text,
  created_at timestamptz,
  reason text,
  error jsonb,
  note text,
  escalated_at timestamptz,
  lease_expires_at timestamptz,
  lease_remaining_ms bigint
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
  v_until timestamptz;
  v_longer boolean;
  v_problem text := case
    when p_owner is null or char_length(p_owner) not between 1 and 200 then 'owner: give 1 to 200 characters'
    when p_claim_id is null then 'claim_id: give a UUID of your own, new for each claim'
    when p_lease_seconds not between 1 and 86400 then 'lease_seconds: must be between 1 and 86400'
  end;
  d leasehold.dead_letters;
begin
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('leasehold.claim_escalated:' || p_claim_id::text, 0));

  select l.* into d from leasehold.dead_letters l where l.claim_id = p_claim_id for update;
  v_now := clock_timestamp();
  if d.job_id is not null and d.held_by <> p_owner then
    raise exception using errcode = 'LH001', message = 'claim_id: is in use; give a UUID of your own, new for each claim';
  elsif d.held_until <= v_now then
    -- Their hold ran out; with the same id they take the job again, or another.
    perform leasehold.expire_hold(d, v_now, p_owner);
    d := null;
  elsif p_queue <> d.queue or p_job_id <> d.job_id or not p_only ? d.queue then
    -- A hold of another wish; and a narrower token of the same person must not show what a wider one took.
    raise exception using errcode = 'LH001', message = 'claim_id: is in use; give a UUID of your own, new for each claim';
  end if;
  if d.job_id is not null then
    null;
  elsif p_job_id is not null then
    select l.* into d
    from leasehold.dead_letters l
    where l.job_id = p_job_id and l.state = 'escalated'
      and (l.held_until is null or l.held_until <= clock_timestamp() or l.held_by = p_owner)
      and (p_queue is null or l.queue = p_queue) and (p_only is null or p_only ? l.queue)
    for update;
  elsif p_queue is not null then
    select l.* into d
    from leasehold.dead_letters l
    where l.state = 'escalated' and l.queue = p_queue
      and (l.held_until is null or l.held_until <= clock_timestamp())
      and (p_only is null or p_only ? l.queue)
    order by l.dead_at
    limit 1
    for update skip locked;
  else
    select l.* into d
    from leasehold.dead_letters l
    where l.state = 'escalated'
      and (l.held_until is null or l.held_until <= clock_timestamp())
      and (p_only is null or p_only ? l.queue)
    order by l.dead_at, l.job_id
    limit 1
    for update skip locked;
  end if;
  if d.job_id is null then
    return;
  end if;

  v_now := clock_timestamp();
  v_until := v_now + make_interval(secs => coalesce(p_lease_seconds, 900));
  if d.held_until > v_now then
    v_longer := p_lease_seconds is not null and v_until > d.held_until;
    update leasehold.dead_letters l
    set claim_id = p_claim_id,
      held_until = case when v_longer then v_until else l.held_until end
    where l.job_id = d.job_id
    returning l.* into d;
    if v_longer then
      insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
      values (d.job_id, v_now, 'heartbeat', p_owner, d.fencing_token,
        jsonb_build_object('lane', 'human', 'lease_expires_at', leasehold.iso(d.held_until)));
    end if;
  else
    if d.held_by is not null then
      perform leasehold.expire_hold(d, v_now, p_owner);
    end if;
    update leasehold.dead_letters l
    set fencing_token = l.fencing_token + 1,
      claim_id = p_claim_id,
      held_by = p_owner,
      held_since = v_now,
      held_until = v_until
    where l.job_id = d.job_id
    returning l.* into d;
    insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
    values (d.job_id, v_now, 'claimed', p_owner, d.fencing_token,
      jsonb_build_object('lane', 'human', 'lease_seconds', coalesce(p_lease_seconds, 900)));
  end if;

  return query
  select
    j.id, j.queue, j.type, j.payload, j.headers, j.schema_version,
    leasehold.lane_priority(coalesce(d.home_lane, j.home_lane)), d.fencing_token, d.attempt, j.max_attempts, d.redrives,
    j.ordering_key, j.created_at, d.reason, d.error, d.note, d.dead_at, d.held_until,
    floor(extract(epoch from d.held_until - v_now) * 1000)::bigint
  from leasehold.jobs j
  where j.id = d.job_id;
end
$$;
