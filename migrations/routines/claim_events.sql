-- leasehold.claim_events: leases one shard of the outbox to a relay and gives its next events, in the order to publish them.
--
--   p_owner          the relay, 1 to 200 characters
--   p_claim_id       chosen by the caller and new for each claim; repeated after a lost answer it gives the same shard and,
--                    while its lease holds, the events that are still to be published
--   p_lease_seconds  1 to 3600 (default 30)
--   p_limit          1 to 500 events (default 100)
--
-- Returns the events of one shard, each with shard and fencing token, or no row: nothing is to be published, or other relays
-- hold what is. Events of one aggregate come in the order of their versions. attempt counts the tries of an event, this one
-- with it: only the first of an aggregate can be above 1. An empty claim writes nothing.
-- Events of an aggregate that is held (its event before could not be published) are set aside here, and taken back when the
-- hold ends, at most 500 a call. While the relay reads, producers are not held up; a late commit is found by the next claim.
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
  v_first int := floor(random() * 16)::int;
  v_more boolean;
  v_ids uuid[];
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

  perform pg_advisory_xact_lock(hashtextextended('leasehold.claim_events:' || p_claim_id::text, 0));
  v_now := clock_timestamp();
  select h.* into s
  from leasehold.outbox_shards h
  where h.claim_id = p_claim_id and h.owner = p_owner and h.leased_until > v_now
  for no key update;

  if s.shard is null then
    -- From a shard chosen at random on, so that relays do not queue up at the first one.
    for i in v_first .. v_first + 15 loop
      select h.* into s
      from leasehold.outbox_shards h
      where h.shard = i % 16 and h.leased_until <= v_now and leasehold.shard_has_due(h, v_now)
      for no key update skip locked;
      exit when s.shard is not null;
    end loop;
    if s.shard is null then
      return;
    end if;
    s.floor := leasehold.raise_outbox_floor(s, v_now);
    update leasehold.outbox_shards h
    set leased_until = v_now + make_interval(secs => p_lease_seconds),
      fencing_token = h.fencing_token + 1,
      owner = p_owner,
      claim_id = p_claim_id
    where h.shard = s.shard
    returning h.* into s;
  end if;

  s.floor := leasehold.sort_held_events(s, p_limit);
  v_ids := array(
    select c.event_id
    from (
      -- The held events whose time has come, then the free ones; one more than asked for tells whether there is more.
      (select h.event_id from leasehold.outbox_holds h
        where h.shard = s.shard and h.due_at <= v_now order by h.due_at limit 100)
      union all
      (select p.event_id from leasehold.outbox_pending p
        where p.shard = s.shard and p.lane = 1 and p.position >= s.floor order by p.position limit p_limit + 1)
    ) c
    limit p_limit + 1
  );
  v_more := cardinality(v_ids) > p_limit;
  return query
  select
    s.shard, s.fencing_token, s.leased_until, floor(extract(epoch from s.leased_until - v_now) * 1000)::bigint,
    e.id, e.aggregate_type, e.aggregate_id, e.version, e.type, e.schema_version, e.payload, e.headers, e.occurred_at,
    e.created_at, coalesce(h.attempt, 0) + 1, v_more
  from unnest(v_ids[1:p_limit]) with ordinality c (id, ord)
  join leasehold.outbox_events e on e.id = c.id
  left join leasehold.outbox_holds h
    on h.aggregate_type = e.aggregate_type and h.aggregate_id = e.aggregate_id and h.event_id = e.id
  order by c.ord;
end
$$;
