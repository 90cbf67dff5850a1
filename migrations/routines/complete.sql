-- leasehold.complete: ends the attempt and the job as succeeded.
--
--   p_job_id, p_owner, p_fencing_token  the lease, unexpired
--   p_result          any JSON value up to 2 MiB as jsonb, or null
--   p_result_problem  why the result is not there, when the caller could not store it
--   p_raise           for a call inside the handler's own transaction: raise instead of answering wherever this statement
--                     did not end the attempt itself, so that the handler's writes roll back with it (default false)
--
-- Returns one row: succeeded; cancelled when the job had been called off before this statement saw it, then the result is
-- kept and the attempt counts as succeeded; or lease_lost when the lease ran out or another holds the job, then nothing
-- changed. Repeated after a lost answer it gives the same outcome. With p_raise, lease_lost is raised as LH004, and a repeat
-- as LH005: the first time committed with its writes, and these must not be made twice. A result over the limit is left out
-- and named as the problem: the work happened, so the job ends all the same. more_due hints at further due work in the queue;
-- keyed_queue is that queue where the job had an ordering key, else null: nothing else tells that the next of the key may go.
-- Example: select * from leasehold.complete('…', 'worker-7', 3, '{"sent": true}');
-- A result that gains a column is another function to Postgres; calls that run go on in the old one.
do $$ begin
  if pg_get_function_result(to_regprocedure('leasehold.complete(uuid, text, bigint, jsonb, text, boolean)')) not like '%, keyed_queue text)' then
    alter function leasehold.complete(uuid, text, bigint, jsonb, text, boolean) rename to retired_complete;
  end if;
end $$;
create or replace function leasehold.complete(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_result jsonb default null,
  p_result_problem text default null,
  p_raise boolean default false
)
returns table (outcome text, more_due boolean, keyed_queue text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_queue text;
begin
  select e.outcome, e.queue, case when e.keyed then e.queue end into outcome, v_queue, keyed_queue
  from leasehold.end_succeeded(p_job_id, p_owner, p_fencing_token, p_result, p_result_problem, p_raise) e;
  more_due := v_queue is not null and leasehold.has_due(v_queue, clock_timestamp());
  return next;
end
$$;
