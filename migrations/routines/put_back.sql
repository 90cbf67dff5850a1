-- leasehold.put_back: takes the lease off a live job and returns it to its own lane, due at p_due_at.
-- The caller has locked the row. A job of an ordering key keeps its open place, so that the key waits for it. Internal.
create or replace function leasehold.put_back(
  p_job_id uuid,
  p_due_at timestamptz,
  p_attempt int,
  p_unknown_failures int,
  p_lease_expiries int
)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update leasehold.job_state
  set lane = home_lane,
    due_at = p_due_at,
    attempt = p_attempt,
    unknown_failures = p_unknown_failures,
    lease_expiries = p_lease_expiries,
    owner = null,
    claim_id = null,
    started_at = null,
    run_deadline_at = null,
    lease_seconds = null
  where job_id = p_job_id
$$;
