-- leasehold.log_event: one row of the event log as the API shows it. Ids and tokens are text and unique over both logs: "j7"
-- is a row of job_events, "q7" one of queue_events. A cursor is the row's place in the order of (transaction, id), job events
-- first; null while a transaction that began earlier may still commit rows before it. Internal: the reads of the log call it.
create or replace function leasehold.log_event(
  p_kind text,
  p_id bigint,
  p_xact xid8,
  p_settled boolean,
  p_job_id uuid,
  p_queue text,
  p_job_type text,
  p_type text,
  p_actor text,
  p_at timestamptz,
  p_fencing_token bigint,
  p_details jsonb
) returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return jsonb_build_object(
  'id', p_kind || p_id,
  'cursor', case when p_settled then format('%s_%s%s', p_xact, p_kind, p_id) end,
  'job_id', p_job_id,
  'queue', p_queue,
  'job_type', p_job_type,
  'type', p_type,
  'actor', p_actor,
  'at', leasehold.iso(p_at),
  'fencing_token', p_fencing_token::text,
  'details', p_details
);
