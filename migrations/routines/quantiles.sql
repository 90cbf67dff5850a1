-- leasehold.quantiles: the half, 0.95 and 0.99 quantiles of some times in milliseconds, as metrics show them; null where there
-- were none. Internal. Example: select leasehold.quantiles(3, array[1, 2, 2.5]);
create or replace function leasehold.quantiles(p_count bigint, p_at double precision[]) returns jsonb
language sql
immutable
return case
  when p_count > 0 then
    jsonb_build_object(
      'count', p_count,
      'p50', round(p_at[1]::numeric, 1),
      'p95', round(p_at[2]::numeric, 1),
      'p99', round(p_at[3]::numeric, 1)
    )
end;
