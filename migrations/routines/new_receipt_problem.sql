-- leasehold.new_receipt_problem: the first rule that a delivery for leasehold.accept_event or leasehold.park_event breaks, as
-- "field: rule", or null. Internal.
create or replace function leasehold.new_receipt_problem(
  p_consumer text,
  p_sender text,
  p_event_id text,
  p_aggregate_type text,
  p_aggregate_id text,
  p_version bigint,
  p_policy text
) returns text
language sql
immutable
as $$
  select case
    when p_consumer is null or char_length(p_consumer) not between 1 and 128 or p_consumer ~ '[[:cntrl:]]'
      then 'consumer: give 1 to 128 characters, no control characters'
    when p_sender is null or char_length(p_sender) > 200 or p_sender ~ '[[:cntrl:]]'
      then 'sender: give at most 200 characters, no control characters'
    when p_event_id is null or char_length(p_event_id) not between 1 and 200 or p_event_id ~ '[[:cntrl:]]'
      then 'event_id: give 1 to 200 characters, no control characters'
    when p_policy is null or p_policy not in ('any', 'apply-newer-only', 'strict')
      then 'policy: must be any, apply-newer-only or strict'
    when p_policy <> 'any' and (p_aggregate_type is null or p_aggregate_id is null or p_version is null)
      then format('version: policy %s needs aggregate_type, aggregate_id and version', p_policy)
    when char_length(p_aggregate_type) not between 1 and 128 or p_aggregate_type ~ '[[:cntrl:]]'
      then 'aggregate_type: give 1 to 128 characters, no control characters'
    when char_length(p_aggregate_id) not between 1 and 200 or p_aggregate_id ~ '[[:cntrl:]]'
      then 'aggregate_id: give 1 to 200 characters, no control characters'
    when p_version not between 1 and 9007199254740991 then 'version: must be between 1 and 9007199254740991'
  end
$$;
