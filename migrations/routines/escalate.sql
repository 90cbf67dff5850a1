-- leasehold.escalate: the holder of a lease asks a person: the attempt ends, and the job waits in the human lane.
--
--   p_job_id, p_owner, p_fencing_token  the lease, unexpired
--   p_question  what the person is to decide or do, 1 to 4,000 characters
--
-- Works in every queue, whatever its on_exhausted says. Returns one row: escalated; cancelled when the job had been called off;
-- or lease_lost (nothing changed). Repeated after a lost answer it gives the same. Raises LH001.
-- Example: select * from leasehold.escalate('…', 'agent-7', 3, 'The order has two addresses: which one counts?');
create or replace function leasehold.escalate(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_question text
)
returns table (outcome text, more_due boolean)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_state text := 'escalated';
  v_error jsonb := jsonb_build_object('code', 'asked_for_human', 'message', p_question);
  r leasehold.job_state;
begin
  if p_question is null or char_length(p_question) not between 1 and 4000 then
    raise exception using errcode = 'LH001', message = 'question: give 1 to 4000 characters';
  end if;
  r := leasehold.take_lease(p_job_id, p_owner, p_fencing_token);
  v_now := clock_timestamp();
  if r.job_id is null then
    return query
    select e.next_state, e.more_due from leasehold.ended_attempt(p_job_id, p_owner, p_fencing_token, 'escalated') e;
    if not found then
      perform leasehold.note_lost_report(p_job_id, p_owner, p_fencing_token, 'escalate');
      return query select 'lease_lost', false;
    end if;
    return;
  end if;
  if r.cancel_requested_at is not null then
    v_state := 'cancelled';
  end if;
  insert into leasehold.attempts
    (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state, error_code, error)
  values (r.job_id, r.fencing_token, r.attempt, r.owner, r.started_at, v_now, 'escalated', v_state, 'asked_for_human',
    v_error);
  if v_state = 'cancelled' then
    perform leasehold.end_cancelled(r, r.cancel_requested_by, r.cancel_reason);
  else
    perform leasehold.bury(r, v_now, r.owner, 'asked_for_human', v_error, 'escalated');
  end if;
  return query select v_state, leasehold.has_due(r.queue, clock_timestamp());
end
$$;
