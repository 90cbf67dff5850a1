-- leasehold.release: gives the job back at once, for anyone; no attempt is spent.
--
--   p_job_id, p_owner, p_fencing_token  the lease, unexpired
--   p_reason  for people, up to 1,000 characters
--
-- Returns one row: pending; cancelled when the job had been called off; or lease_lost. Safe to repeat.
-- Example: select * from leasehold.release('…', 'agent-7', 3, 'not my field');
create or replace function leasehold.release(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_reason text default null
)
returns table (outcome text, due_at timestamptz)
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select g.outcome, g.due_at
  from leasehold.give_back(p_job_id, p_owner, p_fencing_token, 'released', 0, p_reason) g
$$;
