-- leasehold.job_id_time: the instant inside a UUID version 7 (RFC 9562 §5.7), or null for any other id.
-- Example: select leasehold.job_id_time('019ad2c0-5a00-7000-8000-000000000000');
create or replace function leasehold.job_id_time(p_id uuid) returns timestamptz
language sql
immutable
parallel safe
return case
  when substr(p_id::text, 15, 1) = '7' and substr(p_id::text, 20, 1) in ('8', '9', 'a', 'b') then
    to_timestamp(('x' || substr(p_id::text, 1, 8) || substr(p_id::text, 10, 4))::bit(48)::bigint / 1000.0)
end;
