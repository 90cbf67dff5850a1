-- leasehold.new_event_problem: the first rule that an event for leasehold.append_event breaks, as "field: rule", or null.
-- Internal.
create or replace function leasehold.new_event_problem(
  p_now timestamptz,
  p_id uuid,
  p_aggregate_type text,
  p_aggregate_id text,
  p_type text,
  p_payload jsonb,
  p_version bigint,
  p_schema_version int,
  p_headers jsonb
) returns text
language sql
stable
as $$
  select case
    when leasehold.job_id_time(p_id) is null then 'id: must be a UUID version 7'
    when abs(extract(epoch from leasehold.job_id_time(p_id) - p_now)) > 86400
      then 'id: its time must lie within a day of the database clock'
    when leasehold.name_problem('aggregate_type', p_aggregate_type) is not null
      then leasehold.name_problem('aggregate_type', p_aggregate_type)
    when p_aggregate_id is null or char_length(p_aggregate_id) not between 1 and 200 or p_aggregate_id ~ '[[:cntrl:]]'
      then 'aggregate_id: give 1 to 200 characters, no control characters'
    when leasehold.name_problem('type', p_type) is not null then leasehold.name_problem('type', p_type)
    when pg_column_size(p_payload) > 2097152 then 'payload: must be at most 2097152 bytes as jsonb'
    when p_version not between 1 and 9007199254740991 then 'version: must be between 1 and 9007199254740991'
    when p_schema_version is null or p_schema_version not between 1 and 1000000
      then 'schema_version: must be between 1 and 1000000'
    when jsonb_typeof(p_headers) is distinct from 'object' or pg_column_size(p_headers) > 8192
      then 'headers: must be an object of at most 8192 bytes'
  end
$$;
