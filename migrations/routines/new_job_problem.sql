-- leasehold.new_job_problem: the first rule that one object of leasehold.enqueue_batch breaks, as "field: rule", or null.
-- Internal. Takes the parsed values.
do $$ begin
  if to_regprocedure('leasehold.new_job_problem(timestamptz, uuid, text, text, jsonb, bigint, timestamptz, text, int, int, int, jsonb, int, text, text, text, jsonb)') is not null then
    alter function leasehold.new_job_problem(timestamptz, uuid, text, text, jsonb, bigint, timestamptz, text, int, int, int, jsonb, int, text, text, text, jsonb) rename to retired_new_job_problem;
  end if;
end $$;
create or replace function leasehold.new_job_problem(
  p_now timestamptz,
  p_id uuid,
  p_queue text,
  p_type text,
  p_payload jsonb,
  p_delay_ms bigint,
  p_due_at timestamptz,
  p_priority text,
  p_max_attempts int,
  p_max_unknown_attempts int,
  p_retry_budget_seconds int,
  p_headers jsonb,
  p_schema_version int,
  p_ordering_key text,
  p_dedup_key text,
  p_on_duplicate text,
  p_tags jsonb,
  -- A default, so that an enqueue_batch of before, running while the routines are exchanged, still finds it.
  p_escalate_after int default null
) returns text
language sql
stable
as $$
  select case
    when leasehold.job_id_time(p_id) is null then 'id: must be a UUID version 7'
    when abs(extract(epoch from leasehold.job_id_time(p_id) - p_now)) > 86400
      then 'id: its time must lie within a day of the database clock'
    when leasehold.name_problem('queue', p_queue) is not null then leasehold.name_problem('queue', p_queue)
    when leasehold.name_problem('type', p_type) is not null then leasehold.name_problem('type', p_type)
    when pg_column_size(p_payload) > 2097152 then 'payload: must be at most 2097152 bytes as jsonb'
    when p_delay_ms not between 0 and 31622400000 then 'delay_ms: must be between 0 and 31622400000'
    when p_due_at > p_now + interval '366 days' then 'due_at: must be at most 366 days ahead'
    when p_priority is not null and leasehold.priority_lane(p_priority) is null
      then 'priority: must be urgent, high, normal or low'
    when p_max_attempts not between 1 and 100 then 'max_attempts: must be between 1 and 100'
    when p_max_unknown_attempts not between 1 and 100 then 'max_unknown_attempts: must be between 1 and 100'
    when p_escalate_after not between 1 and 100 then 'escalate_after: must be between 1 and 100'
    when p_retry_budget_seconds not between 1 and 31622400
      then 'retry_budget_seconds: must be between 1 and 31622400'
    when jsonb_typeof(p_headers) <> 'object' or pg_column_size(p_headers) > 8192
      then 'headers: must be an object of at most 8192 bytes'
    when p_schema_version not between 1 and 1000000 then 'schema_version: must be between 1 and 1000000'
    when char_length(p_ordering_key) not between 1 and 200 or p_ordering_key ~ '[[:cntrl:]]'
      then 'ordering_key: give 1 to 200 characters, no control characters'
    when char_length(p_dedup_key) not between 1 and 200 or p_dedup_key ~ '[[:cntrl:]]'
      then 'dedup_key: give 1 to 200 characters, no control characters'
    when p_on_duplicate not in ('return', 'replace') then 'on_duplicate: must be return or replace'
    when p_tags is not null and leasehold.tags_problem(p_tags) is not null then leasehold.tags_problem(p_tags)
  end
$$;
