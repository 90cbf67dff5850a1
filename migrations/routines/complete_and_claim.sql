-- leasehold.complete_and_claim: ends one job as succeeded and takes the next one: one statement, one commit a job.
--
--   p_job_id, p_owner, p_fencing_token   the lease that ends, as for leasehold.complete
--   p_queue, p_claim_id                  what to claim next, as for leasehold.claim
--   p_result, p_result_problem           as for leasehold.complete
--   p_lease_seconds, p_lease_at_most     as for leasehold.claim
--
-- Returns one row, always: outcome (succeeded, cancelled or lease_lost, as complete answers), then the columns of claim; all
-- of them null but more_due when nothing was claimed: then it tells whether something is due all the same, behind a limit of
-- the queue or its pause. With lease_lost nothing is claimed, and more_due is false: that
-- answer changes nothing. Repeated after a lost answer it gives the same outcome and, by the claim id, the same lease.
-- Raises LH001, and then neither was done.
-- Example: select * from leasehold.complete_and_claim('…', 'worker-7', 3, 'emails', gen_random_uuid(), '{"sent": true}');
-- A result that gains a column is another function to Postgres; calls that run go on in the old one.
do $$ begin
  if pg_get_function_result(to_regprocedure('leasehold.complete_and_claim(uuid, text, bigint, text, uuid, jsonb, text, int, int)')) not like '%, note text)' then
    alter function leasehold.complete_and_claim(uuid, text, bigint, text, uuid, jsonb, text, int, int) rename to retired_complete_and_claim;
  end if;
end $$;
create or replace function leasehold.complete_and_claim(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_queue text,
  p_claim_id uuid,
  p_result jsonb default null,
  p_result_problem text default null,
  p_lease_seconds int default null,
  p_lease_at_most int default null
)
returns table (
  outcome text,
  job_id uuid,
  queue text,
  type text,
  payload jsonb,
  headers jsonb,
  schema_version int,
  priority text,
  fencing_token bigint,
  attempt int,
  max_attempts int,
  lease_seconds int,
  lease_expires_at timestamptz,
  lease_remaining_ms bigint,
  run_deadline_at timestamptz,
  run_remaining_ms bigint,
  created_at timestamptz,
  more_due boolean,
  ordering_key text,
  redrives int,
  note text
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_outcome text;
begin
  select e.outcome into v_outcome
  from leasehold.end_succeeded(p_job_id, p_owner, p_fencing_token, p_result, p_result_problem, false) e;
  if v_outcome <> 'lease_lost' then
    -- Named one by one: a claim that gains a column while this runs does not fail it.
    return query
    select v_outcome, c.job_id, c.queue, c.type, c.payload, c.headers, c.schema_version, c.priority, c.fencing_token,
      c.attempt, c.max_attempts, c.lease_seconds, c.lease_expires_at, c.lease_remaining_ms, c.run_deadline_at,
      c.run_remaining_ms, c.created_at, c.more_due, c.ordering_key, c.redrives, c.note
    from leasehold.claim(p_queue, p_owner, p_claim_id, p_lease_seconds, p_lease_at_most) c;
  end if;
  if not found or v_outcome = 'lease_lost' then
    outcome := v_outcome;
    more_due := v_outcome <> 'lease_lost' and leasehold.has_due(p_queue, clock_timestamp());
    return next;
  end if;
end
$$;
