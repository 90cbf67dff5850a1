-- leasehold.check_settling: raises LH001 unless ids, reason and actor of a redrive or discard are in order. Internal.
create or replace function leasehold.check_settling(p_job_ids jsonb, p_reason text, p_actor text)
returns void
language plpgsql
immutable
as $$
begin
  perform leasehold.check_chosen('job_ids', p_job_ids, 1000, p_reason, p_actor);
end
$$;
