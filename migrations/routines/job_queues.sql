-- leasehold.job_queues: which queue each of some jobs is in; ids that are no jobs are left out. For callers who may see
-- certain queues alone. Example: select * from leasehold.job_queues('["…"]');
create or replace function leasehold.job_queues(p_job_ids jsonb)
returns table (job_id uuid, queue text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select j.id, j.queue
  from leasehold.jobs j
  where j.id in (select i.id::uuid from jsonb_array_elements_text(p_job_ids) i (id))
$$;
