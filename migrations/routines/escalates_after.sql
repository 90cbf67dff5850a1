-- leasehold.escalates_after: the attempt of this job whose failure hands it to a person; null: its queue does not escalate.
-- Internal: fail and settle_expired_lease call it.
create or replace function leasehold.escalates_after(q leasehold.queues, p_job_id uuid)
returns int
language plpgsql
stable
as $$
begin
  if q.on_exhausted is distinct from 'escalate' then
    return null;
  end if;
  return coalesce((select j.escalate_after from leasehold.jobs j where j.id = p_job_id), q.escalate_after);
end
$$;
