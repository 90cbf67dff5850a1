-- leasehold.outbox_metrics: how the outbox and its consumers fare, from bounded reads: counts stop at 10,000, and rates rest on
-- the newest 10,000 rows of the last five minutes at most. {
--   "oldest_unpublished_seconds": of what waits, held and quarantined events among it; null: nothing waits,
--   "pending", "held", "quarantined": {"count": n, "capped": bool}; held counts what was set aside behind a failure,
--   "last_minutes": {"published", "tries", "failures", "failure_rate", "per_second"},
--   "batches": of the shards that published in the last five minutes: {"newest_at", "mean_ms", "longest_ms", "mean_events"},
--   "consumers": [{"consumer", "accepted", "duplicates", "last_at", "mean_lag_ms", "longest_lag_ms", "parked"}]: the last hour;
--     lag is the time from append to the consumer's commit, null where the outbox is another database's,
--   "tables": [{"table", "bytes", "rows"}]: with indexes; rows as the statistics have it,
--   "retention": {"oldest_event_at", "payloads_dropped_until"}
-- }
-- Example: select leasehold.outbox_metrics();
create or replace function leasehold.outbox_metrics()
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_cap constant int := 10000;
  v_now timestamptz := statement_timestamp();
  v_since timestamptz := v_now - interval '5 minutes';
  v_metrics jsonb;
begin
  select jsonb_build_object(
    'oldest_unpublished_seconds', (extract(epoch from v_now - min(head.due_since)))::bigint
  )
  into v_metrics
  from leasehold.outbox_shards s
  cross join (values (1::smallint), (9)) l (lane)
  cross join lateral (
    select p.due_since
    from leasehold.outbox_pending p
    where p.shard = s.shard and p.lane = l.lane and (l.lane = 9 or p.position >= s.floor)
    order by p.position
    limit 1
  ) head;

  select v_metrics || jsonb_object_agg(
    case w.lane when 1 then 'pending' else 'held' end, jsonb_build_object('count', least(w.n, v_cap), 'capped', w.n > v_cap)
  )
  into v_metrics
  from (values (1::smallint), (9)) l (lane)
  cross join lateral (
    select l.lane, count(*) as n
    from (
      select 1
      from leasehold.outbox_shards s
      cross join lateral (
        select 1
        from leasehold.outbox_pending p
        where p.shard = s.shard and p.lane = l.lane and (l.lane = 9 or p.position >= s.floor)
        limit v_cap + 1
      ) one
      limit v_cap + 1
    ) counted
  ) w;

  select v_metrics || jsonb_build_object(
    'quarantined', jsonb_build_object('count', least(count(*), v_cap), 'capped', count(*) > v_cap)
  )
  into v_metrics
  from (select 1 from leasehold.outbox_holds h where h.quarantined_at is not null limit v_cap + 1) counted;

  select v_metrics || jsonb_build_object('last_minutes', jsonb_build_object(
    'published', p.n,
    'tries', p.n + f.n,
    'failures', f.n,
    'failure_rate', case when p.n + f.n > 0 then round(f.n::numeric / (p.n + f.n), 4) else 0 end,
    'per_second', round(p.n / greatest(extract(epoch from v_now - case when p.n = v_cap then p.since else v_since end), 1), 2)
  ))
  into v_metrics
  from (
    select count(*) as n, min(r.at) as since
    from (
      select u.at from leasehold.outbox_published u where u.at >= v_since and u.outcome = 'published' order by u.at desc limit v_cap
    ) r
  ) p
  cross join (
    select count(*) as n
    from (
      select 1 from leasehold.outbox_log g
      where g.at >= v_since and g.type in ('failed', 'quarantined') order by g.at desc limit v_cap
    ) r
  ) f;

  select v_metrics || jsonb_build_object('batches', jsonb_build_object(
    'newest_at', leasehold.iso(max(s.batch_at)),
    'mean_ms', avg(s.batch_ms)::int,
    'longest_ms', max(s.batch_ms),
    'mean_events', avg(s.batch_events)::int
  ))
  into v_metrics
  from leasehold.outbox_shards s
  where s.batch_at >= v_since;

  return v_metrics || jsonb_build_object(
    'consumers', leasehold.inbox_metrics(v_now - interval '1 hour', v_cap),
    'tables', (
      select jsonb_agg(
        jsonb_build_object('table', c.relname, 'bytes', pg_total_relation_size(c.oid), 'rows', greatest(c.reltuples, 0)::bigint)
        order by c.relname
      )
      from pg_class c
      where c.relnamespace = 'leasehold'::regnamespace and c.relkind = 'r'
        and (c.relname like 'outbox\_%' or c.relname like 'inbox\_%' or c.relname = 'aggregates')
    ),
    'retention', jsonb_build_object(
      'oldest_event_at', (
        select leasehold.iso(leasehold.job_id_time(e.id)) from leasehold.outbox_events e order by e.id limit 1
      ),
      'payloads_dropped_until', (
        select leasehold.iso(r.payloads_until) from leasehold.outbox_retention r where isfinite(r.payloads_until)
      )
    )
  );
end
$$;
