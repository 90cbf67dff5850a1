-- leasehold.snooze: "not now": the job waits, and no attempt is spent, nor any of its retry budget.
--
--   p_job_id, p_owner, p_fencing_token  the lease, unexpired
--   p_delay_ms  1 to 366 days in milliseconds
--   p_reason    for people, up to 1,000 characters
--
-- Returns one row: pending with the instant it is due again; cancelled when the job had been called off; or lease_lost.
-- Repeated after a lost answer it gives the same. Raises LH001.
-- Example: select * from leasehold.snooze('…', 'worker-7', 3, 60000, 'the shop is closed');
create or replace function leasehold.snooze(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_delay_ms bigint,
  p_reason text default null
)
returns table (outcome text, due_at timestamptz)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_delay_ms is null or p_delay_ms not between 1 and 31622400000 then
    raise exception using errcode = 'LH001', message = 'delay_ms: must be between 1 and 31622400000';
  end if;
  return query
  select g.outcome, g.due_at
  from leasehold.give_back(p_job_id, p_owner, p_fencing_token, 'snoozed', p_delay_ms, p_reason) g;
end
$$;
