-- pre
-- The lease core: queues, immutable jobs, the narrow live state, attempts, finished jobs, dead letters, the event log.
-- No foreign key leads into leasehold.jobs: a key check would lock and dirty the immutable row on every attempt.
-- One routine writes each pair of rows, so the tables agree by construction.

create schema if not exists leasehold;

-- What the running code must know. `oldest_code` is raised only by a migration that old code cannot live with.
create table leasehold.schema_version (
  only_row boolean primary key default true constraint schema_version_has_one_row check (only_row),
  version int not null,
  oldest_code int not null
);
insert into leasehold.schema_version (version, oldest_code) values (1, 1);

create table leasehold.queues (
  name text collate "C" primary key
    constraint queue_name_rule check (
      char_length(name) between 1 and 128
      and name !~ '[[:cntrl:]]'
      and name !~ '^\s|\s$'
      and name not in ('.', '..')
    ),
  lease_seconds int not null default 30
    constraint lease_seconds_range check (lease_seconds between 1 and 3600),
  max_run_seconds int not null default 900
    constraint max_run_seconds_range check (max_run_seconds between 1 and 86400),
  max_attempts int not null default 5
    constraint max_attempts_range check (max_attempts between 1 and 100),
  backoff_base_ms bigint not null default 30000
    constraint backoff_base_ms_range check (backoff_base_ms between 0 and 2592000000),
  backoff_cap_ms bigint not null default 3600000
    constraint backoff_cap_ms_range check (backoff_cap_ms between 0 and 2592000000),
  created_at timestamptz not null default clock_timestamp()
);

-- Written once, never changed.
create table leasehold.jobs (
  id uuid primary key,
  queue text collate "C" not null,
  type text collate "C" not null
    constraint type_name_rule check (
      char_length(type) between 1 and 128 and type !~ '[[:cntrl:]]' and type !~ '^\s|\s$'
    ),
  -- jsonb takes up to six times the bytes of its text ([0,0,…]): this holds any 256 KiB of text that the API lets in.
  payload jsonb not null
    constraint payload_size check (pg_column_size(payload) <= 2097152),
  headers jsonb not null default '{}'
    constraint headers_are_a_small_object check (
      jsonb_typeof(headers) = 'object' and pg_column_size(headers) <= 8192
    ),
  schema_version int not null default 1
    constraint schema_version_range check (schema_version between 1 and 1000000),
  home_lane smallint not null
    constraint home_lane_is_a_priority check (home_lane between 1 and 4),
  max_attempts int not null
    constraint job_max_attempts_range check (max_attempts between 1 and 100),
  -- When it was first due: kept so that a repeated enqueue gives the first answer.
  due_at timestamptz not null,
  created_at timestamptz not null,
  created_by text not null
    constraint created_by_length check (char_length(created_by) between 1 and 200)
) with (fillfactor = 100);

-- Live jobs only; the one hot table. Eight-byte columns first.
-- lane 0: leased, due_at = lease expiry. Lanes 1-4: ready or delayed, by priority (urgent, high, normal, low).
-- Every write that puts a row into a lane sets due_at >= clock_timestamp().
create table leasehold.job_state (
  job_id uuid primary key,
  due_at timestamptz not null,
  fencing_token bigint not null default 0,
  started_at timestamptz,
  run_deadline_at timestamptz,
  claim_id uuid,
  step bigint not null default 0,
  attempt int not null default 0,
  max_attempts int not null,
  lease_seconds int,
  lane smallint not null constraint lane_is_known check (lane between 0 and 4),
  home_lane smallint not null constraint home_lane_is_known check (home_lane between 1 and 4),
  lease_expiries smallint not null default 0,
  queue text collate "C" not null,
  owner text,
  progress text,
  constraint a_lease_has_an_owner check ((lane = 0) = (owner is not null))
) with (
  fillfactor = 60,
  vacuum_truncate = off,
  vacuum_index_cleanup = on,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 5000
);

-- The claim index: "claimable" is exactly queue = q and lane = l and due_at <= now.
create index job_state_claim on leasehold.job_state (queue, lane, due_at);

-- The promise of a repeated claim: the same claim id finds the lease that its first call took, whatever the backlog.
create index job_state_claim_id on leasehold.job_state (claim_id) where claim_id is not null;

-- One row when an attempt ends. fencing_token names the attempt for ever; attempt may start again after a redrive.
create table leasehold.attempts (
  job_id uuid not null,
  fencing_token bigint not null,
  attempt int not null,
  owner text not null,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  outcome text not null
    constraint attempt_outcome_is_known check (outcome in ('succeeded', 'failed', 'lease_expired')),
  next_state text not null
    constraint next_state_is_known check (next_state in ('succeeded', 'pending', 'dead')),
  retry_at timestamptz,
  error_code text,
  error jsonb,
  primary key (job_id, fencing_token)
) partition by range (job_id);
create table leasehold.attempts_default partition of leasehold.attempts default;

create table leasehold.finished_jobs (
  job_id uuid not null primary key,
  state text not null constraint finished_state_is_known check (state in ('succeeded')),
  attempt int not null,
  fencing_token bigint not null,
  finished_at timestamptz not null,
  finished_by text not null,
  result jsonb constraint result_size check (pg_column_size(result) <= 2097152),
  result_problem text
) partition by range (job_id);
create table leasehold.finished_jobs_default partition of leasehold.finished_jobs default;

-- Kept until a person settles them; never partitioned away.
create table leasehold.dead_letters (
  job_id uuid primary key,
  queue text collate "C" not null,
  reason text not null,
  error jsonb,
  attempt int not null,
  fencing_token bigint not null,
  dead_at timestamptz not null
);
create index dead_letters_by_queue on leasehold.dead_letters (queue, dead_at);

-- The append-only log: one row a transition, in the transition's own transaction.
-- xact_id lets a reader page without skipping a row that commits late.
create sequence leasehold.job_event_id as bigint;
create table leasehold.job_events (
  id bigint not null default nextval('leasehold.job_event_id'),
  job_id uuid not null,
  xact_id xid8 not null default pg_current_xact_id(),
  at timestamptz not null default clock_timestamp(),
  type text not null
    constraint event_type_is_known check (
      type in ('created', 'claimed', 'heartbeat', 'progressed', 'completed', 'failed', 'lease_expired', 'dead')
    ),
  actor text not null,
  fencing_token bigint,
  details jsonb,
  primary key (job_id, id)
) partition by range (job_id);
create table leasehold.job_events_default partition of leasehold.job_events default;

create function leasehold.refuse_change() returns trigger
language plpgsql
as $$
begin
  raise exception using
    errcode = 'LH003',
    message = format('leasehold.job_events is append-only: %s refused', lower(tg_op)),
    hint = 'History is never rewritten; drop whole partitions by retention instead.';
end
$$;

create trigger job_events_append_only
  before update or delete on leasehold.job_events
  for each row execute function leasehold.refuse_change();
create trigger job_events_no_truncate
  before truncate on leasehold.job_events
  for each statement execute function leasehold.refuse_change();
create trigger job_events_default_no_truncate
  before truncate on leasehold.job_events_default
  for each statement execute function leasehold.refuse_change();
