-- leasehold.settle_escalated: what a person decides about the escalated job that they hold.
--
--   p_job_id, p_owner, p_fencing_token  the hold of leasehold.claim_escalated, unexpired
--   p_action          complete: the person did the work, the job has succeeded
--                     send_back: back to its queue with fresh budgets; the next holders get the note with the claim
--                     discard: given up, the job ends as cancelled
--                     release: the hold ends, the job goes on waiting for a person
--   p_text            send_back: the note, 1 to 4,000 characters. discard: the reason, 1 to 1,000. complete: a note for the log,
--                     up to 4,000, or null
--   p_result, p_result_problem  of complete, as for leasehold.complete
--
-- Returns one row: succeeded; pending with the instant it is due; cancelled; escalated; dedup_key_taken when another live job,
-- named in clash, has its dedup key: then it was not sent back and the hold goes on; or lease_lost (nothing changed).
-- Repeated after a lost answer it gives the first answer. An ordering key that the job blocked goes on. Raises LH001.
-- Example: select * from leasehold.settle_escalated('…', 'maria', 4, 'send_back', 'Use the address on the invoice.');
create or replace function leasehold.settle_escalated(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_action text,
  p_text text default null,
  p_result jsonb default null,
  p_result_problem text default null
)
returns table (outcome text, due_at timestamptz, clash uuid)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_attempt_outcome text := case p_action
    when 'complete' then 'succeeded'
    when 'send_back' then 'sent_back'
    when 'discard' then 'discarded'
    when 'release' then 'released'
  end;
  v_problem text := case
    when v_attempt_outcome is null then 'action: must be complete, send_back, discard or release'
    when p_action = 'send_back' and (p_text is null or char_length(p_text) not between 1 and 4000)
      then 'note: give 1 to 4000 characters'
    when p_action = 'discard' and (p_text is null or char_length(p_text) not between 1 and 1000)
      then 'reason: give 1 to 1000 characters'
    when char_length(p_text) > 4000 then 'note: give at most 4000 characters'
  end;
  d leasehold.dead_letters;
begin
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;
  if pg_column_size(p_result) > 2097152 then
    p_result := null;
    p_result_problem := 'result_too_large';
  end if;
  perform leasehold.lock_keys_of(array[p_job_id]);
  select l.* into d
  from leasehold.dead_letters l
  where l.job_id = p_job_id
    and l.state = 'escalated'
    and l.fencing_token = p_fencing_token
    and l.held_by = p_owner
    and l.held_until > clock_timestamp()
  for update;
  if d.job_id is null then
    return query
    select e.next_state, e.retry_at, null::uuid
    from leasehold.ended_attempt(p_job_id, p_owner, p_fencing_token, v_attempt_outcome) e;
    if not found then
      return query select 'lease_lost', null::timestamptz, null::uuid;
    end if;
    return;
  end if;
  -- The transaction id first, then the clock: the claim's floors rest on that order.
  perform pg_current_xact_id();
  v_now := clock_timestamp();

  case p_action
    when 'complete' then
      outcome := 'succeeded';
      delete from leasehold.dead_letters l where l.job_id = d.job_id;
      insert into leasehold.finished_jobs
        (job_id, state, attempt, fencing_token, finished_at, finished_by, result, result_problem)
      values (d.job_id, 'succeeded', d.attempt + 1, d.fencing_token, v_now, p_owner, p_result, left(p_result_problem, 200));
      insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
      values (d.job_id, v_now, 'completed', p_owner, d.fencing_token,
        jsonb_strip_nulls(jsonb_build_object('attempt', d.attempt + 1, 'lane', 'human', 'note', p_text)));
    when 'send_back' then
      clash := leasehold.revive(d, v_now, v_now, p_owner, p_text,
        jsonb_build_object('lane', 'human', 'reason', 'sent_back', 'note', p_text));
      if clash is not null then
        outcome := 'dedup_key_taken';
        return next;
        return;
      end if;
      outcome := 'pending';
      due_at := v_now;
    when 'discard' then
      outcome := 'cancelled';
      delete from leasehold.dead_letters l where l.job_id = d.job_id;
      insert into leasehold.finished_jobs (job_id, state, attempt, fencing_token, finished_at, finished_by, reason)
      values (d.job_id, 'cancelled', d.attempt, d.fencing_token, v_now, p_owner, p_text);
      insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
      values (d.job_id, v_now, 'discarded', p_owner, d.fencing_token,
        jsonb_build_object('lane', 'human', 'reason', p_text));
    else
      outcome := 'escalated';
      update leasehold.dead_letters l
      set claim_id = null,
        held_by = null,
        held_since = null,
        held_until = null
      where l.job_id = d.job_id;
      insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
      values (d.job_id, v_now, 'released', p_owner, d.fencing_token, jsonb_build_object('lane', 'human'));
  end case;
  perform leasehold.end_hold(d, v_now, v_attempt_outcome, outcome, due_at);
  if d.blocks_key is not null and p_action in ('complete', 'discard') then
    perform leasehold.unpark(d.queue, d.blocks_key, p_owner);
  end if;
  return next;
end
$$;
