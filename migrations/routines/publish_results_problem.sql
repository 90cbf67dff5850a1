-- leasehold.publish_results_problem: the first rule that results for leasehold.settle_events break, as "results[i]: rule", or
-- null. Internal.
create or replace function leasehold.publish_results_problem(p_results jsonb) returns text
language plpgsql
immutable
as $$
declare
  v_result jsonb;
  v_at int := 0;
begin
  if jsonb_typeof(p_results) is distinct from 'array' or jsonb_array_length(p_results) > 500 then
    return 'results: give an array of up to 500 results';
  end if;
  for v_result in select r from jsonb_array_elements(p_results) r loop
    if jsonb_typeof(v_result) <> 'object' or not pg_input_is_valid(coalesce(v_result ->> 'id', ''), 'uuid') then
      return format('results[%s]: give an object with id, the UUID of an event', v_at);
    end if;
    if v_result ->> 'outcome' is null or v_result ->> 'outcome' not in ('published', 'failed', 'rejected') then
      return format('results[%s].outcome: must be published, failed or rejected', v_at);
    end if;
    if v_result ->> 'outcome' <> 'published' then
      if not pg_input_is_valid(coalesce(v_result ->> 'attempt', ''), 'int') then
        return format('results[%s].attempt: give the attempt as claimed', v_at);
      end if;
      if jsonb_typeof(v_result -> 'error' -> 'code') is distinct from 'string'
        or jsonb_typeof(v_result -> 'error' -> 'message') is distinct from 'string'
        or pg_column_size(v_result -> 'error') > 8192
      then
        return format('results[%s].error: give an object of at most 8192 bytes with code and message', v_at);
      end if;
      if jsonb_typeof(coalesce(nullif(v_result -> 'away', 'null'), 'false')) <> 'boolean' then
        return format('results[%s].away: must be true or false', v_at);
      end if;
      if jsonb_typeof(coalesce(nullif(v_result -> 'retry_after_ms', 'null'), '0')) <> 'number'
        or (v_result ->> 'retry_after_ms')::numeric not between 0 and 86400000
      then
        return format('results[%s].retry_after_ms: must be between 0 and 86400000', v_at);
      end if;
    end if;
    v_at := v_at + 1;
  end loop;
  return null;
end
$$;
