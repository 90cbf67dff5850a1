-- leasehold.queue_document: settings and switches of one queue as the API shows them, or null when there is no such queue.
-- Example: select leasehold.queue_document('emails');
create or replace function leasehold.queue_document(p_queue text) returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'name', q.name,
    'lease_seconds', q.lease_seconds,
    'max_run_seconds', q.max_run_seconds,
    'max_attempts', q.max_attempts,
    'max_unknown_attempts', q.max_unknown_attempts,
    'backoff_base_ms', q.backoff_base_ms,
    'backoff_cap_ms', q.backoff_cap_ms,
    'retry_budget_seconds', q.retry_budget_seconds,
    'weight', q.weight,
    'concurrency_limit', q.concurrency_limit,
    'rate_limit', q.rate_limit,
    'rate_interval_ms', q.rate_interval_ms,
    'key_concurrency', q.key_concurrency,
    'key_rate_limit', q.key_rate_limit,
    'key_rate_interval_ms', q.key_rate_interval_ms,
    'on_dead', q.on_dead,
    'on_exhausted', q.on_exhausted,
    'escalate_after', q.escalate_after,
    'delivery', q.delivery,
    'target_url', q.target_url,
    'retention_days', q.retention_days,
    'paused', case
      when q.paused_at is not null then
        jsonb_build_object('since', leasehold.iso(q.paused_at), 'by', q.paused_by, 'reason', q.pause_reason)
    end,
    'push_resume_at', leasehold.iso(q.push_resume_at),
    'created_at', leasehold.iso(q.created_at)
  )
  from leasehold.queues q
  where q.name = p_queue
$$;
