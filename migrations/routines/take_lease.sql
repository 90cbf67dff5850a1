-- leasehold.take_lease: locks the row of a lease whose holder is about to end it, its ordering key first where it has one,
-- and returns the row; no row when the lease is lost. Internal: complete, fail, snooze and release call it.
create or replace function leasehold.take_lease(p_job_id uuid, p_owner text, p_fencing_token bigint)
returns leasehold.job_state
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  r leasehold.job_state;
begin
  -- A job without ordering key is locked at once; one with a key is only found here, and locked below.
  select s.* into r
  from leasehold.job_state s
  where s.job_id = p_job_id
    and s.fencing_token = p_fencing_token
    and s.owner = p_owner
    and s.lane = 0
    and s.ordering_key is null
    and s.due_at > clock_timestamp()
  for no key update;
  if found then
    return r;
  end if;

  select s.* into r
  from leasehold.job_state s
  where s.job_id = p_job_id and s.fencing_token = p_fencing_token and s.ordering_key is not null;
  if not found then
    return null;
  end if;
  perform pg_advisory_xact_lock(leasehold.key_lock_id('ordering', r.queue, r.ordering_key));
  select s.* into r
  from leasehold.job_state s
  where s.job_id = p_job_id
    and s.fencing_token = p_fencing_token
    and s.owner = p_owner
    and s.lane = 0
    and s.due_at > clock_timestamp()
  for no key update;
  if not found then
    return null;
  end if;
  return r;
end
$$;
