-- pre
-- The transactional outbox and the inbox. Producers append events in the transaction of their own rows; a relay publishes
-- them at least once, in order for each aggregate; consumers record what they have applied.

-- Written once. Only retention changes a row: it drops the payload before the envelope.
create table leasehold.outbox_events (
  id uuid primary key,
  -- Given while the aggregate's lock is held, so in the order of versions; other aggregates come in any order.
  position bigint not null,
  aggregate_type text collate "C" not null
    constraint aggregate_type_rule check (char_length(aggregate_type) between 1 and 128 and aggregate_type !~ '[[:cntrl:]]'),
  aggregate_id text collate "C" not null
    constraint aggregate_id_rule check (char_length(aggregate_id) between 1 and 200 and aggregate_id !~ '[[:cntrl:]]'),
  version bigint not null constraint event_version_range check (version between 1 and 9007199254740991),
  type text collate "C" not null
    constraint outbox_event_type_rule check (char_length(type) between 1 and 128 and type !~ '[[:cntrl:]]'),
  schema_version int not null constraint event_schema_version_range check (schema_version between 1 and 1000000),
  -- SQL null is a payload too: an event without a body. payload_dropped_at tells one that retention took away.
  payload jsonb constraint event_payload_size check (pg_column_size(payload) <= 2097152),
  headers jsonb not null
    constraint event_headers_are_a_small_object check (
      jsonb_typeof(headers) = 'object' and pg_column_size(headers) <= 8192
    ),
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  created_by text not null constraint event_created_by_length check (char_length(created_by) between 1 and 200),
  xact_id xid8 not null default pg_current_xact_id(),
  payload_dropped_at timestamptz,
  constraint one_event_a_version unique (aggregate_type, aggregate_id, version)
) with (fillfactor = 95);
-- Readers page by (xact_id, position) below the oldest running transaction, so that a late commit is never skipped.
create index outbox_events_feed on leasehold.outbox_events (xact_id, position);
create sequence leasehold.outbox_position as bigint;

-- The producers' row: the newest version of each aggregate. Its lock is held until the producer commits.
create table leasehold.aggregates (
  aggregate_type text collate "C" not null,
  aggregate_id text collate "C" not null,
  version bigint not null,
  primary key (aggregate_type, aggregate_id)
) with (fillfactor = 80);

-- The relay's work: one narrow row an unpublished event, inserted by the producer and deleted by the relay.
-- lane 1: to be published; lane 9: behind an event of its aggregate that could not be published.
create table leasehold.outbox_pending (
  shard smallint not null,
  lane smallint not null default 1 constraint outbox_lane_is_known check (lane in (1, 9)),
  position bigint not null,
  event_id uuid not null,
  aggregate_type text collate "C" not null,
  aggregate_id text collate "C" not null,
  due_since timestamptz not null,
  primary key (shard, lane, position)
) with (
  fillfactor = 90, vacuum_truncate = off, vacuum_index_cleanup = on, autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);
-- Of held events alone: on lane 1 the planner has one index to choose, whatever its statistics say, and producers keep one.
create index outbox_pending_held on leasehold.outbox_pending (aggregate_type, aggregate_id, position) where lane = 9;

-- A shard is leased by one relay at a time, so its events go out in the order of their positions. An aggregate belongs to
-- one shard for ever. The floor columns follow the rule of leasehold.refresh_claim_floors, with positions for the clock.
create table leasehold.outbox_shards (
  shard smallint primary key,
  leased_until timestamptz not null default '-infinity',
  fencing_token bigint not null default 0,
  owner text,
  claim_id uuid,
  claimed_at timestamptz,
  -- The newest batch that published something: for metrics.
  batch_at timestamptz,
  batch_ms int,
  batch_events int,
  floor bigint not null default 0,
  floor_base bigint not null default 0,
  next_xid xid8 not null default '0',
  suspects xid8[] not null default '{}',
  full_at timestamptz not null default '-infinity'
) with (fillfactor = 20);
insert into leasehold.outbox_shards (shard) select generate_series(0, 15);

-- An aggregate whose next event could not be published: tried again at due_at, or quarantined until a person decides.
-- Its events up to released_position are free again.
create table leasehold.outbox_holds (
  aggregate_type text collate "C" not null,
  aggregate_id text collate "C" not null,
  shard smallint not null,
  event_id uuid not null,
  position bigint not null,
  attempt int not null,
  last_error jsonb,
  first_failed_at timestamptz not null,
  due_at timestamptz,
  quarantined_at timestamptz,
  released_position bigint not null default 0,
  primary key (aggregate_type, aggregate_id),
  constraint a_hold_waits_for_one_thing check (quarantined_at is null or due_at is null)
);
create index outbox_holds_of_shard on leasehold.outbox_holds (shard, position);
create index outbox_holds_due on leasehold.outbox_holds (shard, due_at) where due_at is not null;
create index outbox_holds_ended on leasehold.outbox_holds (shard, position) where due_at is null and quarantined_at is null;
create index outbox_holds_quarantined on leasehold.outbox_holds (quarantined_at, event_id) where quarantined_at is not null;

-- One row when an event is done: published, or skipped by a person.
create table leasehold.outbox_published (
  event_id uuid primary key,
  outcome text not null constraint publish_outcome_is_known check (outcome in ('published', 'skipped')),
  at timestamptz not null,
  attempts int not null,
  by text not null,
  fencing_token bigint
);
create index outbox_published_by_time on leasehold.outbox_published (at, event_id);
create index outbox_skipped on leasehold.outbox_published (at, event_id) where outcome = 'skipped';

-- How far retention has come: payloads of events that were done before this are dropped.
create table leasehold.outbox_retention (
  only_row boolean primary key default true check (only_row),
  payloads_until timestamptz not null default '-infinity',
  payloads_until_id uuid not null default '00000000-0000-0000-0000-000000000000'
);
insert into leasehold.outbox_retention default values;

-- What went wrong and what people did about it, append-only. Retention takes rows that are older than a day.
create table leasehold.outbox_log (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  at timestamptz not null default clock_timestamp(),
  type text not null
    constraint outbox_log_type_is_known check (type in ('failed', 'quarantined', 'replayed', 'skipped')),
  actor text not null,
  details jsonb
);
create index outbox_log_of_event on leasehold.outbox_log (event_id, id);
create index outbox_log_by_time on leasehold.outbox_log (at);
create trigger outbox_log_append_only
  before update or truncate on leasehold.outbox_log
  for each statement execute function leasehold.refuse_change();
create trigger outbox_log_keeps_a_day
  before delete on leasehold.outbox_log
  for each row when (old.at > now() - interval '1 day') execute function leasehold.refuse_change();

-- Consumers: which events were applied, and the newest applied version of each aggregate. Ids, and names of aggregates, are
-- unique to their sender alone; the empty sender is this database's own outbox, or the only one that there is.
create table leasehold.inbox_events (
  consumer text collate "C" not null
    constraint consumer_rule check (char_length(consumer) between 1 and 128 and consumer !~ '[[:cntrl:]]'),
  sender text collate "C" not null
    constraint sender_rule check (char_length(sender) <= 200 and sender !~ '[[:cntrl:]]'),
  event_id text collate "C" not null
    constraint inbox_event_id_rule check (char_length(event_id) between 1 and 200 and event_id !~ '[[:cntrl:]]'),
  at timestamptz not null,
  duplicates int not null default 0,
  primary key (consumer, sender, event_id)
);
create index inbox_events_by_time on leasehold.inbox_events (at);
create table leasehold.inbox_versions (
  consumer text collate "C" not null,
  sender text collate "C" not null,
  aggregate_type text collate "C" not null,
  aggregate_id text collate "C" not null,
  version bigint not null,
  primary key (consumer, sender, aggregate_type, aggregate_id)
) with (fillfactor = 80);
-- Events that came before their predecessors, for the strict policy.
create table leasehold.inbox_parked (
  consumer text collate "C" not null,
  sender text collate "C" not null,
  aggregate_type text collate "C" not null,
  aggregate_id text collate "C" not null,
  version bigint not null,
  event_id text collate "C" not null,
  event jsonb not null constraint parked_event_size check (pg_column_size(event) <= 4194304),
  parked_at timestamptz not null,
  primary key (consumer, sender, aggregate_type, aggregate_id, version)
);

update leasehold.schema_version set version = 4;
