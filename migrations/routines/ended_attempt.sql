-- leasehold.ended_attempt: how an attempt of this holder ended, for a report that is repeated after a lost answer; no row
-- when it did not end by this kind of report. Internal.
create or replace function leasehold.ended_attempt(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_outcome text
)
returns table (next_state text, retry_at timestamptz, more_due boolean)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select a.next_state, a.retry_at, leasehold.has_due(j.queue, clock_timestamp())
  from leasehold.attempts a
  join leasehold.jobs j on j.id = a.job_id
  where a.job_id = p_job_id and a.fencing_token = p_fencing_token and a.owner = p_owner and a.outcome = p_outcome
$$;
