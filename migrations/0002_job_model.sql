-- pre, breaking for the signature of leasehold.fail: deploy code and migration of this release together.
-- The whole job model: keys, limits, budgets by failure class, cancel, dead-letter handling, effects, idempotency keys,
-- schedules, tags. Everything that a plain job does not use costs it nothing: partial indexes, nullable columns.

-- A queue's settings and switches.
alter table leasehold.queues
  add column weight int not null default 1
    constraint weight_range check (weight between 1 and 100),
  add column paused_at timestamptz,
  add column paused_by text,
  add column pause_reason text,
  -- Leases of the queue at one time; null: no limit.
  add column concurrency_limit int
    constraint concurrency_limit_range check (concurrency_limit between 1 and 10000),
  -- Starts in any interval; null: no limit.
  add column rate_limit int
    constraint rate_limit_range check (rate_limit between 1 and 10000),
  add column rate_interval_ms bigint not null default 60000
    constraint rate_interval_ms_range check (rate_interval_ms between 100 and 86400000),
  -- Unfinished jobs of one ordering key that may run at one time: 1 is strict order.
  add column key_concurrency int not null default 1
    constraint key_concurrency_range check (key_concurrency between 1 and 100),
  add column key_rate_limit int
    constraint key_rate_limit_range check (key_rate_limit between 1 and 10000),
  add column key_rate_interval_ms bigint not null default 60000
    constraint key_rate_interval_ms_range check (key_rate_interval_ms between 100 and 86400000),
  -- What a dead job does to its ordering key: block it until a person settles it, or let the next one go.
  add column on_dead text not null default 'block'
    constraint on_dead_is_known check (on_dead in ('block', 'continue')),
  -- Attempts for failures nobody has classed.
  add column max_unknown_attempts int not null default 3
    constraint max_unknown_attempts_range check (max_unknown_attempts between 1 and 100),
  -- No retry starts later than this after the job was first due.
  add column retry_budget_seconds int not null default 604800
    constraint retry_budget_seconds_range check (retry_budget_seconds between 1 and 31622400),
  add column delivery text not null default 'handler'
    constraint delivery_is_known check (delivery in ('handler', 'push', 'pull')),
  add column target_url text
    constraint target_url_length check (char_length(target_url) between 1 and 2000),
  -- Failed pushes in a row; at a bound the queue rests until push_resume_at.
  add column push_failures int not null default 0,
  add column push_resume_at timestamptz,
  add column retention_days int not null default 30
    constraint retention_days_range check (retention_days between 1 and 3650),
  add constraint push_needs_a_target check (delivery <> 'push' or target_url is not null);

alter table leasehold.jobs
  add column ordering_key text collate "C"
    constraint ordering_key_rule check (char_length(ordering_key) between 1 and 200 and ordering_key !~ '[[:cntrl:]]'),
  add column dedup_key text collate "C"
    constraint dedup_key_rule check (char_length(dedup_key) between 1 and 200 and dedup_key !~ '[[:cntrl:]]'),
  -- Place among the jobs of its ordering key, kept through retry and redrive.
  add column key_seq bigint,
  add column tags text[]
    constraint tags_bound check (cardinality(tags) <= 20),
  -- Budgets of this job alone; null: the queue's.
  add column max_unknown_attempts int
    constraint job_max_unknown_attempts_range check (max_unknown_attempts between 1 and 100),
  add column retry_budget_seconds int
    constraint job_retry_budget_seconds_range check (retry_budget_seconds between 1 and 31622400);

create sequence leasehold.ordering_key_seq as bigint;

alter table leasehold.job_state
  add column key_seq bigint,
  add column unknown_failures int not null default 0,
  add column max_unknown_attempts int not null default 3,
  add column cancel_requested_at timestamptz,
  add column cancel_requested_by text,
  add column cancel_reason text,
  add column redrives int not null default 0,
  add column retry_until timestamptz,
  add column ordering_key text collate "C",
  add column dedup_key text collate "C",
  -- Lane 9: parked behind its ordering key; due_at keeps the time asked for.
  drop constraint lane_is_known,
  add constraint lane_is_known check (lane between 0 and 4 or lane = 9);

-- The promise of an ordering key: who is open and who is next, found without reading the others.
create index job_state_ordering_key on leasehold.job_state (queue, ordering_key, lane, key_seq)
  where ordering_key is not null;
-- The promise of a dedup key: one live job a key.
create unique index job_state_dedup_key on leasehold.job_state (queue, dedup_key)
  where dedup_key is not null;

-- Only tagged jobs pay for tags.
create table leasehold.job_tags (
  tag text collate "C" not null,
  job_id uuid not null,
  primary key (tag, job_id)
);

alter table leasehold.attempts
  drop constraint attempt_outcome_is_known,
  add constraint attempt_outcome_is_known
    check (outcome in ('succeeded', 'failed', 'lease_expired', 'snoozed', 'released')),
  drop constraint next_state_is_known,
  add constraint next_state_is_known check (next_state in ('succeeded', 'pending', 'dead', 'cancelled')),
  add column failure_class text
    constraint failure_class_is_known check (failure_class in ('permanent', 'transient', 'unknown'));

alter table leasehold.finished_jobs
  drop constraint finished_state_is_known,
  add constraint finished_state_is_known check (state in ('succeeded', 'cancelled')),
  add column reason text;

alter table leasehold.dead_letters
  add column owner text constraint dead_letter_owner_length check (char_length(owner) between 1 and 200),
  add column note text constraint dead_letter_note_length check (char_length(note) <= 4000),
  add column home_lane smallint,
  add column redrives int not null default 0,
  -- Set while this dead job holds back its key.
  add column blocks_key text collate "C";
create index dead_letters_blocking on leasehold.dead_letters (queue, blocks_key) where blocks_key is not null;

alter table leasehold.job_events
  drop constraint event_type_is_known,
  add constraint event_type_is_known
    check (
      type in (
        'created', 'claimed', 'heartbeat', 'progressed', 'completed', 'failed', 'lease_expired', 'dead',
        'snoozed', 'released', 'cancel_requested', 'cancelled', 'edited', 'unparked', 'redriven', 'discarded', 'noted',
        'effect_started', 'effect_done', 'effect_uncertain', 'effect_settled'
      )
    );

-- Queue-level history, append-only like the job events.
create table leasehold.queue_events (
  id bigint generated always as identity primary key,
  queue text collate "C" not null,
  xact_id xid8 not null default pg_current_xact_id(),
  at timestamptz not null default clock_timestamp(),
  type text not null
    constraint queue_event_type_is_known check (type in ('configured', 'paused', 'resumed', 'push_rested')),
  actor text not null,
  details jsonb
);
create index queue_events_by_queue on leasehold.queue_events (queue, id);
create trigger queue_events_append_only
  before update or delete or truncate on leasehold.queue_events
  for each statement execute function leasehold.refuse_change();

-- Starts of rate-limited queues and keys: appended, never counted in a row of their own that all would fight for.
create table leasehold.rate_starts (
  queue text collate "C" not null,
  key text collate "C",
  at timestamptz not null
);
create index rate_starts_newest on leasehold.rate_starts (queue, key, at);

-- What an attempt did outside the database: intent before, result after. An intent of an earlier attempt is uncertain.
create table leasehold.effects (
  job_id uuid not null,
  key text collate "C" not null
    constraint effect_key_rule check (char_length(key) between 1 and 200 and key !~ '[[:cntrl:]]'),
  state text not null constraint effect_state_is_known check (state in ('started', 'done', 'not_done')),
  fencing_token bigint not null,
  started_at timestamptz not null,
  settled_at timestamptz,
  settled_by text,
  result jsonb constraint effect_result_size check (pg_column_size(result) <= 65536),
  primary key (job_id, key)
);

-- One answer a key: kept so that a repeated request is not a second one.
create table leasehold.idempotency_keys (
  actor text not null,
  key text collate "C" not null
    constraint idempotency_key_rule check (char_length(key) between 1 and 255),
  fingerprint text not null,
  seed uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  claimed_until timestamptz,
  status int,
  headers jsonb,
  body text,
  primary key (actor, key)
);
create index idempotency_keys_by_age on leasehold.idempotency_keys (created_at);

create table leasehold.schedules (
  name text collate "C" primary key
    constraint schedule_name_rule check (char_length(name) between 1 and 128 and name !~ '[[:cntrl:]]'),
  cron text not null,
  zone text not null,
  queue text collate "C" not null,
  type text collate "C" not null,
  payload jsonb not null,
  priority text not null default 'normal',
  max_attempts int,
  -- Slots missed while nothing ticked: none of them, the latest, or every one up to missed_limit.
  missed text not null default 'latest' constraint missed_is_known check (missed in ('skip', 'latest', 'all')),
  missed_limit int not null default 10 constraint missed_limit_range check (missed_limit between 1 and 100),
  -- Whether a slot fires while the job of the slot before is unfinished.
  overlap text not null default 'allow' constraint overlap_is_known check (overlap in ('allow', 'skip')),
  paused_at timestamptz,
  -- Slots up to here are decided; the next one lies after it.
  decided_until timestamptz not null,
  next_slot_at timestamptz,
  last_job_id uuid,
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null,
  updated_at timestamptz not null default clock_timestamp()
);
create index schedules_next on leasehold.schedules (next_slot_at) where paused_at is null;

-- One job a slot, for ever; deleting a schedule keeps its slots.
create table leasehold.schedule_slots (
  schedule text collate "C" not null,
  slot_at timestamptz not null,
  job_id uuid not null,
  primary key (schedule, slot_at)
);

-- When a pass that comes round was last begun, whoever began it: one row a pass, written at most once an interval.
create table leasehold.turns (
  name text collate "C" primary key
    constraint turn_name_rule check (char_length(name) between 1 and 128),
  taken_at timestamptz not null
);

drop function if exists leasehold.fail(uuid, text, bigint, jsonb, boolean);
drop function if exists leasehold.claim(text, text, uuid, int);
drop function if exists leasehold.heartbeat(uuid, text, bigint, bigint, text, int);
drop function if exists leasehold.enqueue(uuid, text, text, jsonb, bigint, timestamptz, text, int, jsonb, int, text);
drop function if exists leasehold.enqueue_batch(jsonb, text);
drop function if exists leasehold.configure_queue(text, int, int, int, bigint, bigint);
drop function if exists leasehold.due_queues(int, int);
drop function if exists leasehold.list_jobs(text, text, int, uuid);

update leasehold.schema_version set version = 2, oldest_code = 2;
