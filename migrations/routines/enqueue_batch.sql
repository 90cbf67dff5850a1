-- leasehold.enqueue_batch: adds up to 1,000 jobs, all or none.
--
--   p_jobs   a JSON array of objects:
--              id              uuid version 7, within a day of the database clock; made by the caller and kept for repeats
--              queue, type     1 to 128 characters, no control characters, no white space at either end
--              payload         any JSON value up to 2 MiB as jsonb
--              delay_ms        0 to 366 days in milliseconds (default 0); or
--              due_at          an instant, at most 366 days ahead; the past means now
--              priority        urgent, high, normal (default) or low
--              max_attempts, max_unknown_attempts   1 to 100 (default: the queue's)
--              escalate_after  1 to 100: the failure that hands it to a person, if its queue escalates (default: the queue's)
--              retry_budget_seconds  1 to 366 days: no retry starts later than this after the first due time
--              headers         a small JSON object, e.g. the trace (default {})
--              schema_version  of the payload, 1 and up (default 1)
--              ordering_key    jobs of one key run one after another, in the order they were added
--              dedup_key       at most one live job a key
--              on_duplicate    return (default): the live job is the answer; replace: it is cancelled in favour of this
--                              one, unless it runs already
--              tags            up to 20 texts of 1 to 100 characters
--   p_actor  who adds them, 1 to 200 characters
--
-- Returns a row a job, in the order given: created; exists (the same id, queue, type and payload is there already: a repeat
-- changes nothing); or duplicate, then job_id is the live job that has the dedup key. An unknown queue is made with default
-- settings. Raises LH001 naming the job and the rule; LH002 when an id is taken by another job (nothing of it is shown).
-- Keys are locked before rows and in one order, so that two batches wait for each other instead of deadlocking; a batch
-- without keys takes no lock.
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
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_problem text;
  v_new uuid[];
  v_all_new boolean;
  v_keyed boolean;
  v_duplicates jsonb := '{}';
  v_inherited jsonb := '{}';
  v_wanted record;
  r leasehold.job_state;
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' or jsonb_array_length(p_jobs) not between 1 and 1000 then
    raise exception using errcode = 'LH001', message = 'jobs: give an array of 1 to 1000 jobs';
  end if;
  if p_actor is null or char_length(p_actor) not between 1 and 200 then
    raise exception using errcode = 'LH001', message = 'actor: give 1 to 200 characters';
  end if;

  -- The transaction id first, then the clock: the claim's floors rest on that order.
  perform pg_current_xact_id();
  v_now := clock_timestamp();

  select format('jobs[%s].%s', i.ord - 1, p.problem)
  into v_problem
  from rows from (
    jsonb_to_recordset(p_jobs) as (
      id uuid, queue text, type text, payload jsonb, delay_ms bigint, due_at timestamptz, priority text, max_attempts int,
      max_unknown_attempts int, retry_budget_seconds int, headers jsonb, schema_version int, ordering_key text,
      dedup_key text, on_duplicate text, tags jsonb, escalate_after int
    )
  ) with ordinality
    as i (id, queue, type, payload, delay_ms, due_at, priority, max_attempts, max_unknown_attempts, retry_budget_seconds, headers,
      schema_version, ordering_key, dedup_key, on_duplicate, tags, escalate_after, ord)
  cross join lateral (
    select leasehold.new_job_problem(
      v_now, i.id, i.queue, i.type, i.payload, i.delay_ms, i.due_at, i.priority, i.max_attempts, i.max_unknown_attempts,
      i.retry_budget_seconds, i.headers, i.schema_version, i.ordering_key, i.dedup_key, i.on_duplicate, i.tags,
      i.escalate_after
    )
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

  select
    leasehold.lock_keys(array_agg(leasehold.key_lock_id('ordering', i.queue, i.ordering_key))
        filter (where i.ordering_key is not null)
      || array_agg(leasehold.key_lock_id('dedup', i.queue, i.dedup_key)) filter (where i.dedup_key is not null)) > 0
  into v_keyed
  from jsonb_to_recordset(p_jobs) as i (queue text, ordering_key text, dedup_key text);

  if v_keyed then
    -- Dedup keys: the first new job of a key counts; it gives way to a live one, or replaces it where asked to.
    for v_wanted in
      select
        i.id,
        i.queue,
        i.dedup_key,
        i.ordering_key,
        i.on_duplicate,
        first_value(i.id) over (partition by i.queue, i.dedup_key order by i.ord) as first_id
      from rows from (
        jsonb_to_recordset(p_jobs) as (id uuid, queue text, dedup_key text, ordering_key text, on_duplicate text)
      ) with ordinality as i (id, queue, dedup_key, ordering_key, on_duplicate, ord)
      where i.dedup_key is not null
        and not exists (select 1 from leasehold.jobs j where j.id = i.id)
      order by i.ord
    loop
      r := null;
      select s.* into r
      from leasehold.job_state s
      where s.queue = v_wanted.queue and s.dedup_key = v_wanted.dedup_key
      for no key update;
      if v_wanted.id <> v_wanted.first_id then
        v_duplicates := v_duplicates
          || jsonb_build_object(v_wanted.id, coalesce(v_duplicates ->> v_wanted.first_id::text, v_wanted.first_id::text));
      elsif r.job_id is not null and v_wanted.on_duplicate = 'replace' and r.lane > 0
        -- The old job's own ordering key must be locked too; it is when the new one has the same.
        and r.ordering_key is not distinct from v_wanted.ordering_key
      then
        if r.ordering_key is not null then
          v_inherited := v_inherited || jsonb_build_object(v_wanted.id, r.key_seq);
        end if;
        delete from leasehold.job_state s where s.job_id = r.job_id;
        insert into leasehold.finished_jobs (job_id, state, attempt, fencing_token, finished_at, finished_by, reason)
        values (r.job_id, 'cancelled', r.attempt, r.fencing_token, v_now, p_actor, 'replaced by ' || v_wanted.id);
        insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
        values (r.job_id, v_now, 'cancelled', p_actor, r.fencing_token,
          jsonb_build_object('reason', 'replaced', 'by', v_wanted.id));
      elsif r.job_id is not null then
        v_duplicates := v_duplicates || jsonb_build_object(v_wanted.id, r.job_id);
      end if;
    end loop;
  end if;

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
      i.max_unknown_attempts,
      i.retry_budget_seconds,
      i.escalate_after,
      i.ordering_key,
      i.dedup_key,
      i.tags,
      greatest(v_now, coalesce(i.due_at, v_now + make_interval(secs => coalesce(i.delay_ms, 0) / 1000.0)))
        + make_interval(secs => (i.ord - 1) / 1000000.0) as due_at,
      i.ord
    from rows from (
      jsonb_to_recordset(p_jobs) as (
        id uuid, queue text, type text, payload jsonb, delay_ms bigint, due_at timestamptz, priority text,
        max_attempts int, max_unknown_attempts int, retry_budget_seconds int, headers jsonb, schema_version int,
        ordering_key text, dedup_key text, tags jsonb, escalate_after int
      )
    ) with ordinality
      as i (id, queue, type, payload, delay_ms, due_at, priority, max_attempts, max_unknown_attempts,
        retry_budget_seconds, headers, schema_version, ordering_key, dedup_key, tags, escalate_after, ord)
    join leasehold.queues q on q.name = i.queue
    where not v_duplicates ? i.id::text
    order by i.id, i.ord
  ),
  numbered as materialized (
    select
      input.*,
      case
        when input.ordering_key is not null then
          coalesce((v_inherited ->> input.id::text)::bigint, nextval('leasehold.ordering_key_seq'))
      end as key_seq
    from (select * from input order by input.ord) input
  ),
  new_jobs as (
    insert into leasehold.jobs
      (id, queue, type, payload, headers, schema_version, home_lane, max_attempts, max_unknown_attempts,
        retry_budget_seconds, escalate_after, ordering_key, dedup_key, key_seq, tags, due_at, created_at, created_by)
    select
      n.id, n.queue, n.type, n.payload, n.headers, n.schema_version, n.home_lane, n.max_attempts,
      n.max_unknown_attempts, n.retry_budget_seconds, n.escalate_after, n.ordering_key, n.dedup_key, n.key_seq,
      case when n.tags is not null then array(select distinct jsonb_array_elements_text(n.tags) order by 1) end,
      n.due_at, v_now, p_actor
    from numbered n
    order by n.id
    on conflict (id) do nothing
    returning id, queue, due_at, max_attempts, max_unknown_attempts, retry_budget_seconds, home_lane, ordering_key,
      dedup_key, key_seq, tags
  ),
  new_state as (
    -- A job with an ordering key starts parked; the key lets it go below, in order.
    insert into leasehold.job_state
      (job_id, due_at, max_attempts, max_unknown_attempts, retry_until, lane, home_lane, queue, ordering_key, dedup_key,
        key_seq)
    select
      j.id, j.due_at, j.max_attempts, coalesce(j.max_unknown_attempts, q.max_unknown_attempts),
      j.due_at + make_interval(secs => coalesce(j.retry_budget_seconds, q.retry_budget_seconds)),
      case when j.ordering_key is null then j.home_lane else 9 end,
      j.home_lane, j.queue, j.ordering_key, j.dedup_key, j.key_seq
    from new_jobs j
    join leasehold.queues q on q.name = j.queue
  ),
  new_tags as (
    insert into leasehold.job_tags (tag, job_id)
    select unnest(j.tags), j.id
    from new_jobs j
    where j.tags is not null
  ),
  new_events as (
    insert into leasehold.job_events (job_id, at, type, actor)
    select j.id, v_now, 'created', p_actor
    from new_jobs j
  )
  select array_agg(j.id) into v_new from new_jobs j;

  if v_keyed then
    perform leasehold.unpark(k.queue, k.ordering_key, p_actor)
    from (
      select distinct i.queue, i.ordering_key
      from jsonb_to_recordset(p_jobs) as i (queue text, ordering_key text)
      where i.ordering_key is not null
    ) k;
  end if;

  -- A new statement, so it sees what a concurrent call with the same id committed meanwhile.
  v_all_new := coalesce(cardinality(v_new), 0) = jsonb_array_length(p_jobs);
  if not v_all_new then
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
    case
      when v_duplicates ? i.id::text then 'duplicate'
      when v_all_new or i.id = any (v_new) then 'created'
      else 'exists'
    end,
    j.queue,
    j.type,
    leasehold.lane_priority(j.home_lane),
    j.max_attempts,
    j.due_at,
    j.created_at
  from rows from (jsonb_to_recordset(p_jobs) as (id uuid)) with ordinality as i (id, ord)
  join leasehold.jobs j on j.id = coalesce((v_duplicates ->> i.id::text)::uuid, i.id)
  order by i.ord;
end
$$;
