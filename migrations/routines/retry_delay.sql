-- leasehold.retry_delay: how long to wait before the next attempt.
-- Exponential with full jitter: uniform in [0, min(cap, base * 2^(attempt - 1))). Depends on its arguments alone.
--
--   p_attempt  the attempt that just ended, from 1
--   p_base_ms  backoff base in milliseconds, 0 and up
--   p_cap_ms   longest delay in milliseconds, 0 and up
--   p_jitter   a random number in [0, 1)
--
-- Returns an interval that is never negative and never above the cap. The exponent is clamped before the power.
-- Example: select leasehold.retry_delay(3, 2000, 3600000, random());
-- Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
create or replace function leasehold.retry_delay(
  p_attempt int,
  p_base_ms bigint,
  p_cap_ms bigint,
  p_jitter double precision
) returns interval
language sql
immutable
parallel safe
return make_interval(
  -- A jitter too small to tell from zero would underflow.
  secs => greatest(p_jitter, 1e-12)
    * least(
      p_cap_ms::double precision,
      p_base_ms::double precision * power(2::double precision, least(greatest(p_attempt, 1) - 1, 40))
    )
    / 1000
);
