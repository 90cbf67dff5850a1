-- leasehold.end_hold: puts a person's hold on an escalated job on record as an attempt of theirs: it counts against no budget.
-- The caller has locked the row, and frees it or takes it away. Internal: claim_escalated and settle_escalated call it.
--   p_outcome     succeeded, sent_back, discarded, released or lease_expired
--   p_next_state  what the job is then
create or replace function leasehold.end_hold(
  d leasehold.dead_letters,
  p_now timestamptz,
  p_outcome text,
  p_next_state text,
  p_retry_at timestamptz default null
)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into leasehold.attempts
    (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state, retry_at)
  values (d.job_id, d.fencing_token, d.attempt + 1, d.held_by, d.held_since, p_now, p_outcome, p_next_state, p_retry_at)
$$;
