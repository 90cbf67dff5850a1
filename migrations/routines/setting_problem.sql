-- leasehold.setting_problem: the first rule that a queue's settings break, as "field: rule", or null. Internal.
create or replace function leasehold.setting_problem(p_settings jsonb) returns text
language plpgsql
immutable
as $$
declare
  v_ranges constant jsonb := '{
    "lease_seconds": [1, 3600], "max_run_seconds": [1, 86400], "max_attempts": [1, 100], "max_unknown_attempts": [1, 100],
    "backoff_base_ms": [0, 2592000000], "backoff_cap_ms": [0, 2592000000], "retry_budget_seconds": [1, 31622400],
    "weight": [1, 100], "concurrency_limit": [1, 10000], "rate_limit": [1, 10000], "rate_interval_ms": [100, 86400000],
    "key_concurrency": [1, 100], "key_rate_limit": [1, 10000], "key_rate_interval_ms": [100, 86400000],
    "retention_days": [1, 3650], "escalate_after": [1, 100]
  }';
  v_removable constant text[] := array['concurrency_limit', 'rate_limit', 'key_rate_limit', 'target_url'];
  v_name text;
  v_value jsonb;
begin
  if jsonb_typeof(p_settings) is distinct from 'object' then
    return 'settings: give an object';
  end if;
  for v_name, v_value in select e.key, e.value from jsonb_each(p_settings) e loop
    if v_value = 'null' then
      if not v_name = any (v_removable) then
        return format('%s: cannot be removed', v_name);
      end if;
    elsif v_ranges ? v_name then
      if jsonb_typeof(v_value) <> 'number' or v_value::text !~ '^-?\d+$'
        or (v_value::text)::numeric not between (v_ranges -> v_name ->> 0)::numeric and (v_ranges -> v_name ->> 1)::numeric
      then
        return format('%s: must be a whole number between %s and %s', v_name, v_ranges -> v_name ->> 0,
          v_ranges -> v_name ->> 1);
      end if;
    elsif v_name = 'on_dead' then
      if v_value #>> '{}' not in ('block', 'continue') then
        return 'on_dead: must be block or continue';
      end if;
    elsif v_name = 'on_exhausted' then
      if v_value #>> '{}' not in ('dead', 'escalate') then
        return 'on_exhausted: must be dead or escalate';
      end if;
    elsif v_name = 'delivery' then
      if v_value #>> '{}' not in ('handler', 'push', 'pull') then
        return 'delivery: must be handler, push or pull';
      end if;
    elsif v_name = 'target_url' then
      if jsonb_typeof(v_value) <> 'string' or char_length(v_value #>> '{}') not between 1 and 2000 then
        return 'target_url: give 1 to 2000 characters';
      end if;
    else
      return format('%s: is no setting of a queue', v_name);
    end if;
  end loop;
  return null;
end
$$;
