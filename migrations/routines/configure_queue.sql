-- leasehold.configure_queue: makes a queue or changes its settings; one that is left out stays as it is, and a null removes
-- a limit or the target.
--
--   p_queue     1 to 128 characters
--   p_settings  a JSON object with any of:
--     lease_seconds 1 to 3600 (default 30); max_run_seconds 1 to 86400: no heartbeat carries an attempt past it (900)
--     max_attempts 1 to 100 (5); max_unknown_attempts 1 to 100 (3): both for jobs added from now on
--     backoff_base_ms, backoff_cap_ms 0 to 30 days (30000, 3600000); retry_budget_seconds 1 to 366 days (7 days)
--     weight 1 to 100 (1): share of the queue in rotations
--     concurrency_limit 1 to 10000 or null: leases at one time
--     rate_limit 1 to 10000 or null: starts in any rate_interval_ms, 100 to 86400000 (60000)
--     key_concurrency 1 to 100 (1): open jobs of one ordering key; 1 is strict order
--     key_rate_limit, key_rate_interval_ms: starts of one ordering key
--     on_dead block or continue (block): what a dead job does to its ordering key
--     on_exhausted dead or escalate (dead): what becomes of a job that is out of attempts: it is dead, or a person is asked
--     escalate_after 1 to 100 (3): the failure that ends the workers' tries in a queue that escalates
--     delivery handler, push or pull (handler); target_url for push
--     retention_days 1 to 3650 (30)
--   p_actor     who does it, 1 to 200 characters
--
-- Returns the settings in force. Raises LH001 naming the field and its rule.
-- Example: select leasehold.configure_queue('emails', '{"lease_seconds": 60}', 'maria');
create or replace function leasehold.configure_queue(p_queue text, p_settings jsonb, p_actor text default session_user)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := coalesce(leasehold.name_problem('queue', p_queue), leasehold.setting_problem(p_settings));
  q leasehold.queues;
begin
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;
  if p_actor is null or char_length(p_actor) not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'actor: give 1 to 200 characters';
  end if;
  insert into leasehold.queues (name) values (p_queue) on conflict do nothing;
  select * into q from leasehold.queues where name = p_queue for no key update;
  -- Only the settings named above can be in the object, so no other column changes.
  q := jsonb_populate_record(q, p_settings);
  if q.delivery = 'push' and q.target_url is null then
    raise exception using errcode = 'LH001', message = 'target_url: a queue with delivery push needs one';
  end if;
  update leasehold.queues
  set lease_seconds = q.lease_seconds,
    max_run_seconds = q.max_run_seconds,
    max_attempts = q.max_attempts,
    max_unknown_attempts = q.max_unknown_attempts,
    backoff_base_ms = q.backoff_base_ms,
    backoff_cap_ms = q.backoff_cap_ms,
    retry_budget_seconds = q.retry_budget_seconds,
    weight = q.weight,
    concurrency_limit = q.concurrency_limit,
    rate_limit = q.rate_limit,
    rate_interval_ms = q.rate_interval_ms,
    key_concurrency = q.key_concurrency,
    key_rate_limit = q.key_rate_limit,
    key_rate_interval_ms = q.key_rate_interval_ms,
    on_dead = q.on_dead,
    on_exhausted = q.on_exhausted,
    escalate_after = q.escalate_after,
    delivery = q.delivery,
    target_url = q.target_url,
    retention_days = q.retention_days,
    push_failures = case when queues.target_url is distinct from q.target_url then 0 else queues.push_failures end,
    push_resume_at = case when queues.target_url is distinct from q.target_url then null else queues.push_resume_at end
  where name = p_queue;
  insert into leasehold.queue_events (queue, type, actor, details) values (p_queue, 'configured', p_actor, p_settings);
  return leasehold.queue_document(p_queue);
end
$$;
