-- leasehold.note_lost_report: keeps that a report or heartbeat came after its lease had run out, once a lease and kind, for the
-- measures: such a call changes nothing, so the event log has no row of it. A lease that never was, or that its holder ended,
-- leaves no row. Internal.
--   p_kind  heartbeat, complete, fail, snooze, release or escalate
create or replace function leasehold.note_lost_report(
  p_job_id uuid,
  p_owner text,
  p_fencing_token bigint,
  p_kind text
)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into leasehold.lost_reports (job_id, fencing_token, kind, queue, at)
  select j.id, p_fencing_token, p_kind, j.queue, clock_timestamp()
  from leasehold.jobs j
  where j.id = p_job_id
    and (
      exists (
        select 1
        from leasehold.attempts a
        where a.job_id = p_job_id and a.fencing_token = p_fencing_token and a.owner = p_owner
          and a.outcome = 'lease_expired'
      )
      or exists (
        select 1
        from leasehold.job_state s
        where s.job_id = p_job_id and s.fencing_token = p_fencing_token and s.owner = p_owner
          and s.lane = 0 and s.due_at <= clock_timestamp()
      )
    )
  on conflict do nothing
$$;
