-- leasehold.enqueue_batch: adds up to 1,000 jobs, all or none, in one statement a table.
--
--   p_jobs   a JSON array of objects:
--              id              uuid version 7, within a day of the database clock; made by the caller and kept for repeats
--              queue, type     1 to 128 characters, no control characters, no white space at either end
--              payload         any JSON value up to 2 MiB as jsonb
--              delay_ms        0 to 366 days in milliseconds (default 0); or
--              due_at          an instant, at most 366 days ahead; the past means now
--              priority        urgent, high, normal (default) or low
--              max_attempts    1 to 100 (default: the queue's)
--              headers         a small JSON object, e.g. the trace (default {})
--              schema_version  of the payload, 1 and up (default 1)
--   p_actor  who adds them, 1 to 200 characters
--
-- Returns a row a job, in the order given: outcome created, or exists when the same job (id, queue, type and payload) is
-- there already: a repeat after a lost answer changes nothing. An unknown queue is made with default settings.
-- Raises LH001 naming the job and the rule; LH002 when an id is taken by another job (nothing of it is shown).
-- Example: select * from leasehold.enqueue_batch('[{"id": "…", "queue": "emails", "type": "email.send", "payload": {}}]', 'shop');
create or replace function leasehold.enqueue_batch(p_jobs jsonb, p_actor text)
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
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_problem text;
  v_new uuid[];
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' or jsonb_array_length(p_jobs) not between 1 and 1000 then
    raise exception using errcode = 'LH001', message = 'jobs: give an array of 1 to 1000 jobs';
  end if;
  if p_actor is null or char_length(p_actor) not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'actor: give 1 to 200 characters';
  end if;

  select format('jobs[%s].%s', i.ord - 1, p.problem)
  into v_problem
  from rows from (
    jsonb_to_recordset(p_jobs) as (
      id uuid, queue text, type text, payload jsonb, delay_ms bigint, due_at timestamptz, priority text,
      max_attempts int, headers jsonb, schema_version int
    )
  ) with ordinality
    as i (id, queue, type, payload, delay_ms, due_at, priority, max_attempts, headers, schema_version, ord)
  cross join lateral (
    select case
      when leasehold.job_id_time(i.id) is null then 'id: must be a UUID version 7'
      when abs(extract(epoch from leasehold.job_id_time(i.id) - v_now)) > 86400
        then 'id: its time must lie within a day of the database clock'
      when i.queue is null or char_length(i.queue) not between 1 and 128 or i.queue ~ '[[:cntrl:]]'
        or i.queue ~ '^\s|\s$' or i.queue in ('.', '..')
        then 'queue: give 1 to 128 characters, no control characters, no white space at either end, not "." or ".."'
      when i.type is null or char_length(i.type) not between 1 and 128 or i.type ~ '[[:cntrl:]]' or i.type ~ '^\s|\s$'
        then 'type: give 1 to 128 characters, no control characters, no white space at either end'
      when pg_column_size(i.payload) > 2097152 then 'payload: must be at most 2097152 bytes as jsonb'
      when i.delay_ms not between 0 and 31622400000 then 'delay_ms: must be between 0 and 31622400000'
      when i.due_at > v_now + interval '366 days' then 'due_at: must be at most 366 days ahead'
      when i.priority is not null and leasehold.priority_lane(i.priority) is null
        then 'priority: must be urgent, high, normal or low'
      when i.max_attempts not between 1 and 100 then 'max_attempts: must be between 1 and 100'
      when jsonb_typeof(i.headers) <> 'object' or pg_column_size(i.headers) > 8192
        then 'headers: must be an object of at most 8192 bytes'
      when i.schema_version not between 1 and 1000000 then 'schema_version: must be between 1 and 1000000'
    end
  ) p (problem)
  where p.problem is not null
  limit 1;
  if v_problem is not null then
    raise exception using errcode = 'LH001', message = v_problem;
  end if;

  insert into leasehold.queues (name)
  select distinct i.queue
  from jsonb_to_recordset(p_jobs) as i (queue text)
  where not exists (select 1 from leasehold.queues q where q.name = i.queue)
  order by 1
  on conflict do nothing;

  -- Inserted in the order of ids, so that two batches with the same ids wait for each other instead of deadlocking.
  with input as materialized (
    select distinct on (i.id)
      i.id,
      i.queue,
      i.type,
      coalesce(i.payload, 'null') as payload,
      coalesce(i.headers, '{}') as headers,
      coalesce(i.schema_version, 1) as schema_version,
      leasehold.priority_lane(coalesce(i.priority, 'normal')) as home_lane,
      coalesce(i.max_attempts, q.max_attempts) as max_attempts,
      greatest(v_now, coalesce(i.due_at, v_now + make_interval(secs => coalesce(i.delay_ms, 0) / 1000.0)))
        + make_interval(secs => (i.ord - 1) / 1000000.0) as due_at
    from rows from (
      jsonb_to_recordset(p_jobs) as (
        id uuid, queue text, type text, payload jsonb, delay_ms bigint, due_at timestamptz, priority text,
        max_attempts int, headers jsonb, schema_version int
      )
    ) with ordinality
      as i (id, queue, type, payload, delay_ms, due_at, priority, max_attempts, headers, schema_version, ord)
    join leasehold.queues q on q.name = i.queue
    order by i.id, i.ord
  ),
  new_jobs as (
    insert into leasehold.jobs
      (id, queue, type, payload, headers, schema_version, home_lane, max_attempts, due_at, created_at, created_by)
    select id, queue, type, payload, headers, schema_version, home_lane, max_attempts, due_at, v_now, p_actor
    from input
    order by id
    on conflict (id) do nothing
    returning id
  ),
  new_state as (
    insert into leasehold.job_state (job_id, due_at, max_attempts, lane, home_lane, queue)
    select i.id, i.due_at, i.max_attempts, i.home_lane, i.home_lane, i.queue
    from new_jobs n
    join input i on i.id = n.id
  ),
  new_events as (
    insert into leasehold.job_events (job_id, at, type, actor)
    select n.id, v_now, 'created', p_actor
    from new_jobs n
  )
  select array_agg(n.id) into v_new from new_jobs n;

  -- A new statement, so it sees what a concurrent call with the same id committed meanwhile.
  if coalesce(cardinality(v_new), 0) < jsonb_array_length(p_jobs) then
    select format('jobs[%s].id', i.ord - 1)
    into v_problem
    from rows from (jsonb_to_recordset(p_jobs) as (id uuid, queue text, type text, payload jsonb)) with ordinality
      as i (id, queue, type, payload, ord)
    join leasehold.jobs j on j.id = i.id
    where (j.queue, j.type, j.payload) is distinct from (i.queue, i.type, coalesce(i.payload, 'null'))
    limit 1;
    if v_problem is not null then
      raise exception using
        errcode = 'LH002',
        message = format('%s: this id belongs to a job with another queue, type or payload', v_problem),
        hint = 'Give a new job a new id; repeat an enqueue with the very same content.';
    end if;
  end if;

  return query
  select
    j.id,
    case when n.id is null then 'exists' else 'created' end,
    j.queue,
    j.type,
    leasehold.lane_priority(j.home_lane),
    j.max_attempts,
    j.due_at,
    j.created_at
  from rows from (jsonb_to_recordset(p_jobs) as (id uuid)) with ordinality as i (id, ord)
  join leasehold.jobs j on j.id = i.id
  left join unnest(v_new) n (id) on n.id = i.id
  order by i.ord;
end
$$;
