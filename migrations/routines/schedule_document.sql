-- leasehold.schedule_document: one schedule as the API shows it. Internal.
create or replace function leasehold.schedule_document(s leasehold.schedules) returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'name', s.name,
    'cron', s.cron,
    'zone', s.zone,
    'queue', s.queue,
    'type', s.type,
    'payload', s.payload,
    'priority', s.priority,
    'max_attempts', s.max_attempts,
    'missed', s.missed,
    'missed_limit', s.missed_limit,
    'overlap', s.overlap,
    'paused', s.paused_at is not null,
    'next_slot_at', case when s.paused_at is null then leasehold.iso(s.next_slot_at) end,
    'decided_until', leasehold.iso(s.decided_until),
    'last_job_id', s.last_job_id,
    'created_at', leasehold.iso(s.created_at),
    'created_by', s.created_by,
    'updated_at', leasehold.iso(s.updated_at)
  )
$$;
