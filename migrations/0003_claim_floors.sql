-- pre
-- The ledger of claim floors: lower bounds on due_at, per queue and lane, below which no live job lies. While an old
-- snapshot is open, vacuum cannot remove dead entries at the head of the claim index, and without a floor every claim would
-- walk all of them. Appended to by claims that walked many entries, read backwards; a healthy database never writes a row.
-- See leasehold.refresh_claim_floors for the rule and why it is safe.
create table leasehold.claim_floors (
  id bigint generated always as identity,
  queue text collate "C" not null,
  -- The start of the transaction that wrote the row.
  at timestamptz not null,
  -- Lanes 0 to 4 in this order; null: no floor is needed any more.
  floors timestamptz[]
    constraint floors_of_five_lanes check (cardinality(floors) = 5),
  -- Its id: every transaction from this id on began to write after that clock.
  next_xid xid8 not null,
  -- Writers from before the row before this one, which may still commit a job below the floors, or have done so since.
  suspects xid8[] not null default '{}',
  -- The last read without floors, and how many index entries it walked.
  full_at timestamptz,
  full_entries bigint not null default 0,
  primary key (queue, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index claim_floors_by_age on leasehold.claim_floors (at);

-- The four tables that every transition writes lose their checks: Postgres reads a check's text again in every statement that
-- writes the table, which was a sixth of a job's processor time. Only routines write them, and tests hold the routines to it.
alter table leasehold.job_state
  drop constraint lane_is_known,
  drop constraint home_lane_is_known,
  drop constraint a_lease_has_an_owner;
alter table leasehold.attempts
  drop constraint attempt_outcome_is_known,
  drop constraint next_state_is_known,
  drop constraint failure_class_is_known;
alter table leasehold.finished_jobs
  drop constraint finished_state_is_known,
  drop constraint result_size;
alter table leasehold.job_events drop constraint event_type_is_known;

update leasehold.schema_version set version = 3;
