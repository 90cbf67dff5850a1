-- leasehold.enqueue: adds one job, also from inside a producer's own transaction, in any language.
-- Parameters, outcome and errors are those of leasehold.enqueue_batch; messages name it as jobs[0].
-- After your commit, send a poke (POST /v1/work) or leave it to the drain.
-- Example: select * from leasehold.enqueue(leasehold.new_job_id(), 'emails', 'email.send', '{"to": "a@example.com"}');
do $$ begin
  if to_regprocedure('leasehold.enqueue(uuid, text, text, jsonb, bigint, timestamptz, text, int, jsonb, int, text, text, text, text, text[], int, int)') is not null then
    alter function leasehold.enqueue(uuid, text, text, jsonb, bigint, timestamptz, text, int, jsonb, int, text, text, text, text, text[], int, int) rename to retired_enqueue;
  end if;
end $$;
create or replace function leasehold.enqueue(
  p_id uuid,
  p_queue text,
  p_type text,
  p_payload jsonb,
  p_delay_ms bigint default 0,
  p_due_at timestamptz default null,
  p_priority text default 'normal',
  p_max_attempts int default null,
  p_headers jsonb default '{}',
  p_schema_version int default 1,
  p_actor text default session_user,
  p_ordering_key text default null,
  p_dedup_key text default null,
  p_on_duplicate text default 'return',
  p_tags text[] default null,
  p_max_unknown_attempts int default null,
  p_retry_budget_seconds int default null,
  p_escalate_after int default null
)
returns table (
  job_id uuid,
  outcome text,
  queue text,
  type text,
  priority text,
  max_attempts int,
  due_at timestamptz,
  created_at timestamptz
)
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select b.job_id, b.outcome, b.queue, b.type, b.priority, b.max_attempts, b.due_at, b.created_at
  from leasehold.enqueue_batch(
    jsonb_build_array(
      jsonb_build_object(
        'id', p_id,
        'queue', p_queue,
        'type', p_type,
        'payload', p_payload,
        'delay_ms', p_delay_ms,
        'due_at', p_due_at,
        'priority', p_priority,
        'max_attempts', p_max_attempts,
        'headers', p_headers,
        'schema_version', p_schema_version,
        'ordering_key', p_ordering_key,
        'dedup_key', p_dedup_key,
        'on_duplicate', p_on_duplicate,
        'tags', to_jsonb(p_tags),
        'max_unknown_attempts', p_max_unknown_attempts,
        'retry_budget_seconds', p_retry_budget_seconds,
        'escalate_after', p_escalate_after
      )
    ),
    p_actor
  ) b
$$;
