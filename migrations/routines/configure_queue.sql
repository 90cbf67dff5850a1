-- leasehold.configure_queue: makes a queue or changes its settings; a null leaves a setting as it is.
--
--   p_lease_seconds    1 to 3600 (default 30)
--   p_max_run_seconds  1 to 86400: no heartbeat carries an attempt past it (default 900)
--   p_max_attempts     1 to 100, for jobs enqueued from now on (default 5)
--   p_backoff_base_ms, p_backoff_cap_ms  0 to 30 days (defaults 2000 and 3600000)
--
-- Raises LH001 naming the field and its range. Example: select leasehold.configure_queue('emails', p_lease_seconds => 60);
create or replace function leasehold.configure_queue(
  p_queue text,
  p_lease_seconds int default null,
  p_max_run_seconds int default null,
  p_max_attempts int default null,
  p_backoff_base_ms bigint default null,
  p_backoff_cap_ms bigint default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := case
    when p_queue is null or char_length(p_queue) not between 1 and 128 or p_queue ~ '[[:cntrl:]]'
      or p_queue ~ '^\s|\s$' or p_queue in ('.', '..')
      then 'queue: give 1 to 128 characters, no control characters, no white space at either end, not "." or ".."'
    when p_lease_seconds not between 1 and 3600 then 'lease_seconds: must be between 1 and 3600'
    when p_max_run_seconds not between 1 and 86400 then 'max_run_seconds: must be between 1 and 86400'
    when p_max_attempts not between 1 and 100 then 'max_attempts: must be between 1 and 100'
    when p_backoff_base_ms not between 0 and 2592000000 then 'backoff_base_ms: must be between 0 and 2592000000'
    when p_backoff_cap_ms not between 0 and 2592000000 then 'backoff_cap_ms: must be between 0 and 2592000000'
  end;
begin
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;
  insert into leasehold.queues (name) values (p_queue) on conflict do nothing;
  update leasehold.queues
  set lease_seconds = coalesce(p_lease_seconds, lease_seconds),
    max_run_seconds = coalesce(p_max_run_seconds, max_run_seconds),
    max_attempts = coalesce(p_max_attempts, max_attempts),
    backoff_base_ms = coalesce(p_backoff_base_ms, backoff_base_ms),
    backoff_cap_ms = coalesce(p_backoff_cap_ms, backoff_cap_ms)
  where name = p_queue;
end
$$;
