-- pre
-- The board: escalation to people, reading the event log as a feed, and what metrics need. Code of schema 4 goes on working
-- beside it.
-- Everything it locks comes first, together, and each for a moment only: whoever waits for such a lock holds up all that come
-- after, and a report that has written its job and still has to read its queue must not meet a migration that holds the
-- queues and waits for the job. A transaction that stays in the way fails the migration after some ten seconds; run it again.
set local lock_timeout = '100ms';
do $$
begin
  for v_try in 1 .. 25 loop
    begin
      lock table leasehold.job_state, leasehold.dead_letters, leasehold.queues, leasehold.jobs in access exclusive mode;
      lock table leasehold.job_events, leasehold.queue_events in share mode;
      return;
    exception
      when lock_not_available then
        perform pg_sleep(0.2 + 0.2 * random());
    end;
  end loop;
  raise exception using
    errcode = '55P03',
    message = 'a transaction that stays open is in the way of this migration',
    hint = 'Nothing has changed. End it (select * from pg_stat_activity order by xact_start) and migrate again.';
end
$$;

alter table leasehold.queues
  -- What becomes of a job that is out of attempts: it is dead, or a person is asked.
  add column on_exhausted text not null default 'dead'
    constraint on_exhausted_is_known check (on_exhausted in ('dead', 'escalate')),
  -- In a queue that escalates: the failure that ends the agents' tries, whatever its class.
  add column escalate_after int not null default 3
    constraint escalate_after_range check (escalate_after between 1 and 100);

alter table leasehold.jobs
  -- For this job alone; null: the queue's.
  add column escalate_after int
    constraint job_escalate_after_range check (escalate_after between 1 and 100);

-- What a person wrote when they sent the job back; the next holder gets it with the claim.
alter table leasehold.job_state add column note text;

-- Escalated jobs wait here beside the dead ones. A person's hold is a lease like an agent's: owner, token, expiry.
alter table leasehold.dead_letters
  add column state text not null default 'dead'
    constraint dead_letter_state_is_known check (state in ('dead', 'escalated')),
  add column claim_id uuid,
  add column held_by text constraint held_by_length check (char_length(held_by) between 1 and 200),
  add column held_since timestamptz,
  add column held_until timestamptz;
create index dead_letters_escalated on leasehold.dead_letters (queue, dead_at, job_id) where state = 'escalated';
create index dead_letters_escalated_by_age on leasehold.dead_letters (dead_at, job_id) where state = 'escalated';
create unique index dead_letters_claim_id on leasehold.dead_letters (claim_id) where claim_id is not null;

-- Readers page by (xact_id, id) below the oldest running transaction, so that a late commit is never skipped.
create index job_events_feed on leasehold.job_events (xact_id, id);
create index queue_events_feed on leasehold.queue_events (xact_id, id);

-- Reports and heartbeats that came after their lease was lost: they change nothing, so the event log has no row of them.
-- At most one a lease and kind, and only of leases that there were.
create table leasehold.lost_reports (
  job_id uuid not null,
  fencing_token bigint not null,
  kind text not null
    constraint lost_report_kind_is_known check (kind in ('heartbeat', 'complete', 'fail', 'snooze', 'release', 'escalate')),
  queue text collate "C" not null,
  at timestamptz not null,
  primary key (job_id, fencing_token, kind)
);
create index lost_reports_by_age on leasehold.lost_reports (at);

update leasehold.schema_version set version = 5;
