-- leasehold.settle_events: a relay tells what became of the events that it had claimed.
--
--   p_shard, p_owner, p_fencing_token  the lease of the shard. It may have run out, as long as nobody else has claimed the
--                 shard since: the token tells
--   p_results     a JSON array of up to 500 objects:
--                   id       the event
--                   outcome  published; failed; or rejected, for an event that no retry can help
--                   attempt  as claimed; needed for the last two, so that a failure counts once however often it is told
--                   error    for the last two: {"code": "…", "message": "…"}
--                   away     true when the receiver as a whole could not be reached (for failed, default false)
--                   retry_after_ms  the receiver's wish, up to a day (for failed)
--                 Events that are left out stay to be published.
--   p_more        keep the lease for the next batch: it is renewed for p_lease_seconds; else it ends (default false)
--   p_lease_seconds  1 to 3600 (default 30)
--   p_max_attempts   tries of one event before it is quarantined, 1 to 100 (default 10)
--
-- Returns one row: settled with how many were published now, failed and quarantined; or lease_lost, then nothing changed and
-- what was sent will be sent again under the same ids. Repeated after a lost answer it changes nothing more: an event that is
-- published already is passed over, and so is a failure that was counted. A failed event holds back its own aggregate only,
-- and is tried again after a delay with full jitter (1 s doubling to 5 min); a quarantined one waits for a person. An event
-- whose receiver is away is no poison: it is quarantined after ten times as many tries, or after p_max_attempts when the
-- receiver took other events meanwhile.
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
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_published int := 0;
  v_failed int := 0;
  v_quarantined int := 0;
  v_problem text;
  v_result record;
  v_positions bigint[];
  v_is_out boolean;
  s leasehold.outbox_shards;
begin
  v_problem := coalesce(
    leasehold.publish_results_problem(p_results),
    case
      when p_lease_seconds is null or p_lease_seconds not between 1 and 3600
        then 'lease_seconds: must be between 1 and 3600'
      when p_max_attempts is null or p_max_attempts not between 1 and 100 then 'max_attempts: must be between 1 and 100'
    end
  );
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;

  select h.* into s
  from leasehold.outbox_shards h
  where h.shard = p_shard and h.owner = p_owner and h.fencing_token = p_fencing_token
  for no key update;
  v_now := clock_timestamp();
  if s.shard is null then
    return query select 'lease_lost', 0, 0, 0, null::timestamptz;
    return;
  end if;

  -- By positions, because the planner could turn a join with the pending events around.
  v_positions := array(
    select e.position
    from jsonb_to_recordset(p_results) as r (id uuid, outcome text)
    cross join lateral (select * from leasehold.outbox_events o where o.id = r.id limit 1) e
    where r.outcome = 'published' and leasehold.outbox_shard(e.aggregate_type, e.aggregate_id) = p_shard
  );
  with gone as (
    delete from leasehold.outbox_pending q
    where q.shard = p_shard and q.lane in (1, 9) and q.position = any (v_positions)
    returning q.event_id, q.position
  ),
  -- The event that was held is out: the hold has ended, and the next claim takes the rest of the aggregate back.
  ended as (
    update leasehold.outbox_holds o
    set due_at = null, quarantined_at = null
    where o.shard = p_shard and o.position = any (v_positions)
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
    select
      q.event_id, q.aggregate_type, q.aggregate_id, q.position, r.outcome, r.attempt, r.error,
      coalesce(r.away, false) as is_away, coalesce(r.retry_after_ms, 0) as retry_after_ms,
      coalesce(o.first_failed_at, v_now) as first_failed_at
    from rows from (
      jsonb_to_recordset(p_results) as (id uuid, outcome text, attempt int, error jsonb, away boolean, retry_after_ms numeric)
    ) with ordinality as r (id, outcome, attempt, error, away, retry_after_ms, ord)
    cross join lateral (select * from leasehold.outbox_events v where v.id = r.id limit 1) e
    cross join lateral (
      select w.*
      from leasehold.outbox_pending w
      where w.shard = p_shard and w.lane in (1, 9) and w.position = e.position and w.event_id = e.id
      limit 1
    ) q
    left join leasehold.outbox_holds o
      on o.aggregate_type = e.aggregate_type and o.aggregate_id = e.aggregate_id and o.event_id = e.id
    where r.outcome in ('failed', 'rejected') and r.attempt = coalesce(o.attempt, 0) + 1
    order by r.ord
  loop
    v_is_out := v_result.outcome = 'rejected' or v_result.attempt >= p_max_attempts and (
      not v_result.is_away
      or v_result.attempt >= 10 * p_max_attempts
      or exists (
        select 1
        from leasehold.outbox_published u
        where u.at >= v_result.first_failed_at and u.outcome = 'published'
      )
    );
    insert into leasehold.outbox_holds as o
      (aggregate_type, aggregate_id, shard, event_id, position, attempt, last_error, first_failed_at, due_at, quarantined_at)
    values (
      v_result.aggregate_type, v_result.aggregate_id, p_shard, v_result.event_id, v_result.position, v_result.attempt,
      v_result.error, v_result.first_failed_at,
      case
        when not v_is_out then v_now + greatest(
          leasehold.retry_delay(v_result.attempt, 1000, 300000, random()),
          make_interval(secs => v_result.retry_after_ms / 1000.0)
        )
      end,
      case when v_is_out then v_now end
    )
    on conflict (aggregate_type, aggregate_id) do update
    set event_id = excluded.event_id,
      position = excluded.position,
      attempt = excluded.attempt,
      last_error = excluded.last_error,
      first_failed_at = excluded.first_failed_at,
      due_at = excluded.due_at,
      quarantined_at = excluded.quarantined_at,
      released_position = 0;
    update leasehold.outbox_pending q
    set lane = 9
    where q.shard = p_shard and q.lane = 1 and q.position = v_result.position;
    insert into leasehold.outbox_log (event_id, at, type, actor, details)
    values (v_result.event_id, v_now, case when v_is_out then 'quarantined' else 'failed' end, p_owner,
      jsonb_build_object('attempt', v_result.attempt, 'error', v_result.error));
    v_failed := v_failed + (not v_is_out)::int;
    v_quarantined := v_quarantined + v_is_out::int;
  end loop;

  update leasehold.outbox_shards h
  set leased_until = case when p_more then v_now + make_interval(secs => p_lease_seconds) else v_now end,
    batch_at = case when v_published > 0 then v_now else h.batch_at end,
    batch_events = case when v_published > 0 then v_published else h.batch_events end,
    batch_ms = case
      when v_published > 0 then least(extract(epoch from v_now - h.claimed_at) * 1000, 2147483647)::int
      else h.batch_ms
    end
  where h.shard = p_shard
  returning h.leased_until into leased_until;
  return query select 'settled', v_published, v_failed, v_quarantined, leased_until;
end
$$;
