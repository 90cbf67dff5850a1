-- leasehold.expire_hold: ends a person's hold that ran out, and frees the job for the next. The caller has locked the row.
-- Internal: claim_escalated calls it.
create or replace function leasehold.expire_hold(d leasehold.dead_letters, p_now timestamptz, p_actor text)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  select leasehold.end_hold(d, p_now, 'lease_expired', 'escalated');
  update leasehold.dead_letters
  set claim_id = null,
    held_by = null,
    held_since = null,
    held_until = null
  where job_id = d.job_id;
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  values (d.job_id, p_now, 'lease_expired', p_actor, d.fencing_token,
    jsonb_build_object('lane', 'human', 'owner', d.held_by));
$$;
