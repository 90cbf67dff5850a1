-- leasehold.append_event: adds one event to the outbox, inside the transaction of the rows it tells about, in any language.
--
--   p_id               UUID version 7, within a day of the database clock; made by the caller, the event's name for ever
--   p_aggregate_type   1 to 128 characters, e.g. order
--   p_aggregate_id     1 to 200 characters
--   p_type             1 to 128 characters, e.g. order.placed
--   p_payload          any JSON value up to 2 MiB as jsonb, or null for an event without a body
--   p_version          the aggregate's version that this event makes (default: the next one). The first is 1; a gap or a
--                      repeat is refused
--   p_schema_version   of the payload, 1 and up (default 1)
--   p_headers          a small JSON object, e.g. {"traceparent": "…"} (default {})
--   p_occurred_at      when it happened, where that is not now
--   p_actor            who adds it, 1 to 200 characters
--
-- Returns one row: appended, or exists when an event with this id and the same content is there already. The aggregate's row
-- stays locked until your commit, so that versions are committed in their order; other aggregates are not held up.
-- Raises LH001 (a rule, or "version: …" with the one expected), LH002 when the id belongs to another event.
-- Example: select * from leasehold.append_event(leasehold.new_job_id(), 'order', '42', 'order.placed', '{"total": 10}');
create or replace function leasehold.append_event(
  p_id uuid,
  p_aggregate_type text,
  p_aggregate_id text,
  p_type text,
  p_payload jsonb,
  p_version bigint default null,
  p_schema_version int default 1,
  p_headers jsonb default '{}',
  p_occurred_at timestamptz default null,
  p_actor text default session_user
)
returns table (outcome text, event_id uuid, version bigint, created_at timestamptz)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_taken constant text := 'id: this id belongs to an event with another aggregate, type, version or payload';
  v_advice constant text := 'Give a new event a new id; repeat an append with the very same content.';
  v_now timestamptz;
  v_problem text;
  v_version bigint;
  v_position bigint;
  v_shard smallint;
  e leasehold.outbox_events;
begin
  -- The transaction id before the position below: the relay's floors rest on that order.
  perform pg_current_xact_id();
  v_now := clock_timestamp();
  v_problem := leasehold.new_event_problem(
    v_now, p_id, p_aggregate_type, p_aggregate_id, p_type, p_payload, p_version, p_schema_version, p_headers
  );
  if v_problem is null and (p_actor is null or char_length(p_actor) not between 1 and 200) then
    v_problem := 'actor: give 1 to 200 characters';
  end if;
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;

  -- Takes the aggregate's lock, whether its row is new or not.
  insert into leasehold.aggregates as a (aggregate_type, aggregate_id, version)
  values (p_aggregate_type, p_aggregate_id, 1)
  on conflict (aggregate_type, aggregate_id) do update set version = a.version + 1
  returning a.version into v_version;

  select * into e from leasehold.outbox_events o where o.id = p_id;
  if e.id is not null then
    if (e.aggregate_type, e.aggregate_id, e.type, e.version, e.schema_version)
        is distinct from (p_aggregate_type, p_aggregate_id, p_type, coalesce(p_version, e.version), p_schema_version)
      or e.payload_dropped_at is null and e.payload is distinct from p_payload
    then
      raise exception using
        errcode = 'LH002',
        message = v_taken,
        hint = v_advice;
    end if;
    update leasehold.aggregates a
    set version = v_version - 1
    where a.aggregate_type = p_aggregate_type and a.aggregate_id = p_aggregate_id;
    return query select 'exists', e.id, e.version, e.created_at;
    return;
  end if;

  if p_version <> v_version then
    raise exception using
      errcode = 'LH001',
      message = format('version: the next version of %s %s is %s, not %s', p_aggregate_type, p_aggregate_id, v_version, p_version),
      hint = case
        when p_version < v_version then 'Another writer was first: read the aggregate again.'
        else 'A version is missing: append the events in their order, or leave the version to the outbox.'
      end;
  end if;

  v_position := nextval('leasehold.outbox_position');
  v_shard := leasehold.outbox_shard(p_aggregate_type, p_aggregate_id);
  insert into leasehold.outbox_events
    (id, position, aggregate_type, aggregate_id, version, type, schema_version, payload, headers, occurred_at, created_at,
      created_by)
  values
    (p_id, v_position, p_aggregate_type, p_aggregate_id, v_version, p_type, p_schema_version, p_payload, p_headers,
      coalesce(p_occurred_at, v_now), v_now, p_actor)
  on conflict (id) do nothing;
  if not found then
    -- Another aggregate got this id at the same moment.
    raise exception using
      errcode = 'LH002',
      message = v_taken,
      hint = v_advice;
  end if;
  insert into leasehold.outbox_pending (shard, position, event_id, aggregate_type, aggregate_id, due_since)
  values (v_shard, v_position, p_id, p_aggregate_type, p_aggregate_id, v_now);
  return query select 'appended', p_id, v_version, v_now;
end
$$;
