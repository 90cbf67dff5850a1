-- leasehold.settle_events: a relay tells what became of the events that it had claimed.
--
--   p_shard, p_owner, p_fencing_token  the lease of the shard, unexpired
--   p_results     a JSON array of up to 500 objects:
--                   id       the event
--                   outcome  published; failed; or quarantined, for an event that no retry can help
--                   error    for the last two: {"code": "…", "message": "…"}
--                 Events that are left out stay to be published.
--   p_more        keep the lease for the next batch: it is renewed for p_lease_seconds; else it ends (default false)
--   p_lease_seconds  1 to 3600 (default 30)
--   p_max_attempts   tries of one event before it is quarantined, 1 to 100 (default 10)
--
-- Returns one row: settled with how many were published now, failed and quarantined; or lease_lost, then nothing changed and
-- what was sent will be sent again under the same ids. Repeated after a lost answer it changes nothing more while the lease
-- is held: an event that is published already is passed over. A failed event holds back its own aggregate only, and is tried
-- again after a delay with full jitter (1 s doubling to 5 min); a quarantined one waits for a person.
-- Raises LH001. Example: select * from leasehold.settle_events(3::smallint, 'relay-1', 7, '[{"id": "…", "outcome": "published"}]');
create or replace function leasehold.settle_events(
  p_shard smallint,
  p_owner text,
  p_fencing_token bigint,
  p_results jsonb,
  p_more boolean default false,
  p_lease_seconds int default 30,
  p_max_attempts int default 10
)
returns table (outcome text, published int, failed int, quarantined int, leased_until timestamptz)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_published int := 0;
  v_failed int := 0;
  v_quarantined int := 0;
  v_result record;
  v_attempt int;
  v_out boolean;
  p leasehold.outbox_pending;
  s leasehold.outbox_shards;
begin
  if jsonb_typeof(p_results) is distinct from 'array' or jsonb_array_length(p_results) > 500 then
    raise exception using errcode = 'LH001', message = 'results: give an array of up to 500 results';
  end if;
  if p_lease_seconds is null or p_lease_seconds not between 1 and 3600 then
    raise exception using errcode = 'LH001', message = 'lease_seconds: must be between 1 and 3600';
  end if;
  if p_max_attempts is null or p_max_attempts not between 1 and 100 then
    raise exception using errcode = 'LH001', message = 'max_attempts: must be between 1 and 100';
  end if;

  select h.* into s
  from leasehold.outbox_shards h
  where h.shard = p_shard
    and h.owner = p_owner
    and h.fencing_token = p_fencing_token
    and h.leased_until > clock_timestamp()
  for no key update;
  v_now := clock_timestamp();
  if s.shard is null then
    return query select 'lease_lost', 0, 0, 0, null::timestamptz;
    return;
  end if;

  with done as (
    select e.id, e.position, e.aggregate_type, e.aggregate_id
    from jsonb_to_recordset(p_results) as r (id uuid, outcome text)
    join leasehold.outbox_events e on e.id = r.id
    where r.outcome = 'published' and leasehold.outbox_shard(e.aggregate_type, e.aggregate_id) = p_shard
  ),
  gone as (
    delete from leasehold.outbox_pending q
    using done d
    where q.shard = p_shard and q.lane in (1, 9) and q.position = d.position
    returning q.event_id
  ),
  -- The event that was held is out: the hold has ended, and the next claim takes the rest of the aggregate back.
  ended as (
    update leasehold.outbox_holds o
    set due_at = null, quarantined_at = null
    from done d
    where o.aggregate_type = d.aggregate_type and o.aggregate_id = d.aggregate_id and o.event_id = d.id
    returning o.event_id, o.attempt
  ),
  marked as (
    insert into leasehold.outbox_published (event_id, outcome, at, attempts, by, fencing_token)
    select g.event_id, 'published', v_now, coalesce((select n.attempt from ended n where n.event_id = g.event_id), 0) + 1,
      p_owner, p_fencing_token
    from gone g
    on conflict (event_id) do nothing
    returning 1
  )
  select count(*) into v_published from marked;

  for v_result in
    select r.id, r.outcome, r.error
    from rows from (jsonb_to_recordset(p_results) as (id uuid, outcome text, error jsonb)) with ordinality
      as r (id, outcome, error, ord)
    where r.outcome in ('failed', 'quarantined')
    order by r.ord
  loop
    select q.* into p
    from leasehold.outbox_pending q
    join leasehold.outbox_events e
      on e.id = v_result.id and q.aggregate_type = e.aggregate_type and q.aggregate_id = e.aggregate_id
        and q.position = e.position
    where q.shard = p_shard;
    continue when not found;
    select coalesce(max(o.attempt), 0) + 1
    into v_attempt
    from leasehold.outbox_holds o
    where o.aggregate_type = p.aggregate_type and o.aggregate_id = p.aggregate_id and o.event_id = p.event_id;
    v_out := v_result.outcome = 'quarantined' or v_attempt >= p_max_attempts;
    insert into leasehold.outbox_holds as o
      (aggregate_type, aggregate_id, shard, event_id, position, attempt, last_error, first_failed_at, due_at, quarantined_at)
    values (
      p.aggregate_type, p.aggregate_id, p_shard, p.event_id, p.position, v_attempt, v_result.error, v_now,
      case when not v_out then v_now + leasehold.retry_delay(v_attempt, 1000, 300000, random()) end,
      case when v_out then v_now end
    )
    on conflict (aggregate_type, aggregate_id) do update
    set event_id = excluded.event_id,
      position = excluded.position,
      attempt = excluded.attempt,
      last_error = excluded.last_error,
      first_failed_at = case when o.event_id = excluded.event_id then o.first_failed_at else excluded.first_failed_at end,
      due_at = excluded.due_at,
      quarantined_at = excluded.quarantined_at,
      released_position = 0;
    update leasehold.outbox_pending q
    set lane = 9
    where q.shard = p_shard and q.lane = 1 and q.position = p.position;
    insert into leasehold.outbox_log (event_id, at, type, actor, details)
    values (p.event_id, v_now, case when v_out then 'quarantined' else 'failed' end, p_owner,
      jsonb_build_object('attempt', v_attempt, 'error', v_result.error));
    v_failed := v_failed + (not v_out)::int;
    v_quarantined := v_quarantined + v_out::int;
  end loop;

  update leasehold.outbox_shards h
  set leased_until = case when p_more then v_now + make_interval(secs => p_lease_seconds) else v_now end
  where h.shard = p_shard
  returning h.leased_until into leased_until;
  return query select 'settled', v_published, v_failed, v_quarantined, leased_until;
end
$$;
