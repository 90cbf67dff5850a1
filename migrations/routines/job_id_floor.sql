-- leasehold.job_id_floor: the smallest UUID whose version 7 time is p_at: the bound of a partition by time.
-- Example: select leasehold.job_id_floor('2026-11-30T00:00:00Z');
create or replace function leasehold.job_id_floor(p_at timestamptz) returns uuid
language sql
immutable
parallel safe
return (
  lpad(to_hex(floor(extract(epoch from p_at) * 1000)::bigint), 12, '0') || '00000000000000000000'
)::uuid;
