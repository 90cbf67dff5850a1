-- leasehold.aggregate_events: the events of one aggregate after a version, in order: what a consumer asks for when one is
-- missing. Published or not; payload is null with payload_dropped_at set where retention has taken it.
-- state is pending, published or skipped: a person decided that a skipped event has no effect, so a consumer steps over it.
--
--   p_aggregate_type, p_aggregate_id  the aggregate
--   p_after_version                   0 for all
--   p_limit                           1 to 500 events
-- Example: select * from leasehold.aggregate_events('order', '42', 2, 100);
create or replace function leasehold.aggregate_events(
  p_aggregate_type text,
  p_aggregate_id text,
  p_after_version bigint,
  p_limit int
)
returns table (
  event_id uuid,
  version bigint,
  type text,
  schema_version int,
  payload jsonb,
  headers jsonb,
  occurred_at timestamptz,
  created_at timestamptz,
  payload_dropped_at timestamptz,
  state text
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select e.id, e.version, e.type, e.schema_version, e.payload, e.headers, e.occurred_at, e.created_at, e.payload_dropped_at,
    case
      when exists (select 1 from leasehold.outbox_pending q
        where q.shard = leasehold.outbox_shard(p_aggregate_type, p_aggregate_id) and q.lane in (1, 9) and q.position = e.position)
        then 'pending'
      else coalesce(p.outcome, 'published')
    end
  from leasehold.outbox_events e
  left join leasehold.outbox_published p on p.event_id = e.id
  where e.aggregate_type = p_aggregate_type and e.aggregate_id = p_aggregate_id and e.version > p_after_version
  order by e.version
  limit least(greatest(p_limit, 1), 500)
$$;
