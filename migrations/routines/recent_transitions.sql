-- leasehold.recent_transitions: what happened in each queue since an instant, from the newest p_cap events. Internal: metrics
-- calls it. Returns {"from": since when this tells everything, "queues": {name: {
--   "transitions": {type: count}
--   "claim_ms", "run_ms", "total_ms": {"count", "p50", "p95", "p99"}: from due to claimed, from claimed to completed, from added
--     to completed; null where there was none
--   "retries": [{"code", "attempt", "count"}]: attempts that ended in another try, the twenty commonest pairs; the rest come
--     as one pair of nulls
-- }}}. Example: select leasehold.recent_transitions(now() - interval '5 minutes', 10000);
create or replace function leasehold.recent_transitions(p_since timestamptz, p_cap int) returns jsonb
language plpgsql
stable
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_pairs constant int := 20;
  v_from timestamptz := p_since;
  v_events leasehold.job_events[] := array(select e from leasehold.newest_events(p_since, p_cap) e);
  v_queues jsonb;
begin
  if cardinality(v_events) = p_cap then
    v_from := v_events[p_cap].at;
  end if;
  with happened as materialized (
    select j.queue, j.created_at, e.job_id, e.type, e.at, e.fencing_token, (e.details ->> 'waited_ms')::numeric as waited_ms
    from unnest(v_events) e
    join leasehold.jobs j on j.id = e.job_id
  ),
  types as (
    select t.queue, jsonb_object_agg(t.type, t.n) as counts
    from (select h.queue, h.type, count(*) as n from happened h group by h.queue, h.type) t
    group by t.queue
  ),
  claims as (
    select
      h.queue, count(*) as n,
      percentile_cont(array[0.5, 0.95, 0.99]) within group (order by h.waited_ms::double precision) as at
    from happened h
    where h.type = 'claimed' and h.waited_ms is not null
    group by h.queue
  ),
  ended as materialized (
    select
      h.queue, h.type, a.attempt, a.error_code, a.next_state,
      extract(epoch from a.ended_at - a.started_at)::double precision * 1000 as run_ms,
      extract(epoch from a.ended_at - h.created_at)::double precision * 1000 as total_ms
    from happened h
    join leasehold.attempts a on a.job_id = h.job_id and a.fencing_token = h.fencing_token
    where h.type in ('completed', 'failed', 'lease_expired')
  ),
  completions as (
    select
      e.queue, count(*) as n,
      percentile_cont(array[0.5, 0.95, 0.99]) within group (order by e.run_ms) as run,
      percentile_cont(array[0.5, 0.95, 0.99]) within group (order by e.total_ms) as total
    from ended e
    where e.type = 'completed'
    group by e.queue
  ),
  pairs as (
    select
      e.queue, e.error_code, e.attempt, count(*) as n,
      row_number() over (partition by e.queue order by count(*) desc, e.error_code, e.attempt) as place
    from ended e
    where e.type <> 'completed' and e.next_state = 'pending'
    group by e.queue, e.error_code, e.attempt
  ),
  retries as (
    select
      p.queue,
      jsonb_agg(jsonb_build_object('code', p.error_code, 'attempt', p.attempt, 'count', p.n) order by p.place) as list
    from (
      select queue, error_code, attempt, n, place from pairs where place <= v_pairs
      union all
      select queue, null, null, sum(n), v_pairs + 1 from pairs where place > v_pairs group by queue
    ) p
    group by p.queue
  )
  select jsonb_object_agg(t.queue, jsonb_build_object(
    'transitions', t.counts,
    'claim_ms', leasehold.quantiles(c.n, c.at),
    'run_ms', leasehold.quantiles(d.n, d.run),
    'total_ms', leasehold.quantiles(d.n, d.total),
    'retries', coalesce(r.list, '[]')
  ))
  into v_queues
  from types t
  left join claims c on c.queue = t.queue
  left join completions d on d.queue = t.queue
  left join retries r on r.queue = t.queue;
  return jsonb_build_object('from', leasehold.iso(v_from), 'queues', coalesce(v_queues, '{}'));
end
$$;
