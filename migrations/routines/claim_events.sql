-- leasehold.claim_events: leases one shard of the outbox to a relay and gives its next events, in the order to publish them.
--
--   p_owner          the relay, 1 to 200 characters
--   p_claim_id       chosen by the caller and new for each claim. Repeated after a lost answer, and for the next batch after
--                    settle_events with p_more, it gives what is still to be published of the same shard
--   p_lease_seconds  1 to 3600 (default 30)
--   p_limit          1 to 500 events (default 100); fewer come when their payloads are more than 4 MiB as text
--
-- Returns the events of one shard, each with shard and fencing token. No row: nothing can be published now, or other relays
-- hold what can; nothing is leased then. Events of one aggregate come in the order of their versions. attempt counts the
-- tries of an event, this one with it: only the first of an aggregate can be above 1. An empty claim writes nothing.
-- Events of an aggregate that is held (its event before could not be published) are set aside here, and taken back when the
-- hold ends. While the relay reads, producers are not held up; a late commit is found by the next claim.
-- Raises LH001. Example: select * from leasehold.claim_events('relay-1', gen_random_uuid());
create or replace function leasehold.claim_events(
  p_owner text,
  p_claim_id uuid,
  p_lease_seconds int default 30,
  p_limit int default 100
)
returns table (
  shard smallint,
  fencing_token bigint,
  leased_until timestamptz,
  lease_remaining_ms bigint,
  event_id uuid,
  aggregate_type text,
  aggregate_id text,
  version bigint,
  type text,
  schema_version int,
  payload jsonb,
  headers jsonb,
  occurred_at timestamptz,
  created_at timestamptz,
  attempt int,
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
  v_problem text;
  v_base bigint;
  -- From a shard chosen at random on, so that relays do not queue up at the first one.
  v_next int := floor(random() * 16)::int;
  v_end int := v_next + 16;
  v_most_bytes constant int := 4194304;
  v_leased boolean;
  v_free boolean;
  v_ids uuid[];
  v_attempts int[];
  s leasehold.outbox_shards;
begin
  v_problem := case
    when p_owner is null or char_length(p_owner) not between 1 and 200 then 'owner: give 1 to 200 characters'
    when p_claim_id is null then 'claim_id: give a UUID of your own, new for each claim'
    when p_lease_seconds is null or p_lease_seconds not between 1 and 3600 then 'lease_seconds: must be between 1 and 3600'
    when p_limit is null or p_limit not between 1 and 500 then 'limit: must be between 1 and 500'
  end;
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;

  -- The newest position, read before a lock below brings this transaction its id: the floor rests on that order. One that has
  -- its id already tells nothing.
  select case when pg_current_xact_id_if_assigned() is null then q.last_value else 0 end
  into v_base
  from leasehold.outbox_position q;
  perform pg_advisory_xact_lock(hashtextextended('leasehold.claim_events:' || p_claim_id::text, 0));
  v_now := clock_timestamp();
  select h.* into s
  from leasehold.outbox_shards h
  where h.claim_id = p_claim_id and h.owner = p_owner and h.leased_until > v_now
  for no key update;
  v_leased := s.shard is not null;

  loop
    while s.shard is null and v_next < v_end loop
      select h.* into s
      from leasehold.outbox_shards h
      where h.shard = v_next % 16 and h.leased_until <= v_now and leasehold.shard_has_due(h, v_now)
      for no key update skip locked;
      v_next := v_next + 1;
    end loop;
    if s.shard is null then
      return;
    end if;

    s.floor := leasehold.raise_outbox_floor(s, v_now, v_base);
    select o.floor, o.is_free into s.floor, v_free from leasehold.sort_held_events(s, p_limit) o;
    -- The held events whose time has come, then the free ones; one more than asked for tells whether there is more.
    select coalesce(array_agg(d.event_id order by d.due_at), '{}'), coalesce(array_agg(d.attempt order by d.due_at), '{}')
    into v_ids, v_attempts
    from (
      select o.event_id, o.attempt, o.due_at
      from leasehold.outbox_holds o
      where o.shard = s.shard and o.due_at <= v_now
      order by o.due_at
      limit p_limit
    ) d;
    if v_free then
      v_ids := v_ids || array(
        select p.event_id
        from leasehold.outbox_pending p
        where p.shard = s.shard and p.lane = 1 and p.position >= s.floor
        order by p.position
        limit p_limit + 1 - cardinality(v_ids)
      );
    end if;
    exit when cardinality(v_ids) > 0;
    if v_leased then
      update leasehold.outbox_shards h set leased_until = v_now where h.shard = s.shard;
      v_leased := false;
    end if;
    s := null;
  end loop;

  update leasehold.outbox_shards h
  set leased_until = case when v_leased then h.leased_until else v_now + make_interval(secs => p_lease_seconds) end,
    fencing_token = h.fencing_token + (not v_leased)::int,
    owner = p_owner,
    claim_id = p_claim_id,
    claimed_at = v_now
  where h.shard = s.shard
  returning h.* into s;
  return query
  select
    s.shard, s.fencing_token, s.leased_until, floor(extract(epoch from s.leased_until - v_now) * 1000)::bigint,
    b.id, b.aggregate_type, b.aggregate_id, b.version, b.type, b.schema_version, b.payload, b.headers, b.occurred_at,
    b.created_at, coalesce(v_attempts[b.ord], 0) + 1,
    cardinality(v_ids) > p_limit or coalesce(b.all_bytes, 0) > v_most_bytes
  from (
    select
      e.*, c.ord,
      sum(octet_length(e.payload::text)) over (order by c.ord) as bytes,
      sum(octet_length(e.payload::text)) over () as all_bytes
    from unnest(v_ids[1:p_limit]) with ordinality c (id, ord)
    -- The limit keeps the planner from turning the join around while the table is small.
    cross join lateral (select * from leasehold.outbox_events o where o.id = c.id limit 1) e
  ) b
  where b.ord = 1 or coalesce(b.bytes, 0) <= v_most_bytes
  order by b.ord;
end
$$;
