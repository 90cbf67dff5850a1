-- leasehold.metrics: every measure to watch, from bounded reads, in one call: instants rather than ages, so that what was read
-- can be kept and told later. {
--   "at", "read_ms": how long this took,
--   "counted_up_to": counts of jobs stop there: at 1,000, sooner where there are over a hundred queues,
--   "queues": up to 1,000, by name: name, paused, delivery, resting, concurrency_limit, first_due_at, first_lease_end_at,
--     oldest_dead_at, oldest_escalated_at, the counts of leasehold.queue_counts, and peek_ms, what a claim needs to find the
--     heads of the queue's lanes,
--   "left_out": how many more queues there are,
--   "recent": leasehold.recent_transitions of the last five minutes, from the newest 10,000 events at most,
--   "lost": [{"queue", "kind", "count"}]: reports and heartbeats of these minutes whose lease had run out,
--   "database": {"connections", "max_connections": of the server; "lock_waits"; "dead_rows", "live_rows": of job_state},
--   "outbox": {"oldest_unpublished_at", "oldest_quarantined_at"},
--   "last_tick_at": when a scheduled tick last did all its work
-- }
-- Example: select leasehold.metrics();
create or replace function leasehold.metrics()
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_most_queues constant int := 1000;
  v_most_events constant int := 10000;
  v_window constant interval := interval '5 minutes';
  v_began timestamptz := clock_timestamp();
  v_now timestamptz := statement_timestamp();
  v_there bigint;
  v_cap int;
  v_queues jsonb[] := '{}';
  v_recent jsonb;
  v_lost jsonb;
  v_database jsonb;
  v_outbox jsonb;
  v_peek_began timestamptz;
  v_peek_ms numeric;
  q leasehold.queues;
  v_heads record;
  v_counts record;
begin
  select count(*) into v_there from leasehold.queues;
  v_cap := greatest(100, least(1000, 100000 / greatest(v_there, 1)));
  -- The first call of a session plans; it is not what a busy backend pays.
  perform * from leasehold.queue_heads('');
  for q in
    select x.* from leasehold.queues x order by x.name limit v_most_queues
  loop
    v_peek_began := clock_timestamp();
    select * into v_heads from leasehold.queue_heads(q.name);
    v_peek_ms := extract(epoch from clock_timestamp() - v_peek_began) * 1000;
    select * into v_counts from leasehold.queue_counts(q.name, v_now, v_cap);
    v_queues := v_queues || (
      jsonb_build_object(
        'name', q.name,
        'paused', q.paused_at is not null,
        'delivery', q.delivery,
        'resting', coalesce(q.push_resume_at > v_now, false),
        'concurrency_limit', q.concurrency_limit,
        'first_due_at', leasehold.iso(v_heads.first_due_at),
        'first_lease_end_at', leasehold.iso(v_heads.first_lease_end_at),
        'oldest_dead_at', leasehold.iso(v_heads.oldest_dead_at),
        'oldest_escalated_at', leasehold.iso(v_heads.oldest_escalated_at),
        'peek_ms', round(v_peek_ms, 3)
      )
      || to_jsonb(v_counts)
    );
  end loop;

  v_recent := leasehold.recent_transitions(v_now - v_window, v_most_events);

  select coalesce(jsonb_agg(jsonb_build_object('queue', l.queue, 'kind', l.kind, 'count', l.n) order by l.queue, l.kind), '[]')
  into v_lost
  from (
    select r.queue, r.kind, count(*) as n
    from (
      select x.queue, x.kind
      from leasehold.lost_reports x
      where x.at >= v_now - v_window
      order by x.at desc
      limit v_most_events
    ) r
    group by r.queue, r.kind
  ) l;

  v_database := jsonb_build_object(
    'connections', (select sum(d.numbackends) from pg_stat_database d),
    'max_connections', current_setting('max_connections')::int,
    'lock_waits', (select count(*) from pg_locks l where not l.granted),
    'dead_rows', pg_stat_get_dead_tuples('leasehold.job_state'::regclass),
    'live_rows', pg_stat_get_live_tuples('leasehold.job_state'::regclass)
  );

  select jsonb_build_object(
    'oldest_unpublished_at', leasehold.iso(min(head.due_since)),
    'oldest_quarantined_at', (
      select leasehold.iso(h.quarantined_at)
      from leasehold.outbox_holds h
      where h.quarantined_at is not null
      order by h.quarantined_at
      limit 1
    )
  )
  into v_outbox
  from leasehold.outbox_shards s
  cross join (values (1::smallint), (9)) l (lane)
  cross join lateral (
    select p.due_since
    from leasehold.outbox_pending p
    where p.shard = s.shard and p.lane = l.lane and (l.lane = 9 or p.position >= s.floor)
    order by p.position
    limit 1
  ) head;

  return jsonb_build_object(
    'at', leasehold.iso(v_now),
    'counted_up_to', v_cap,
    'queues', to_jsonb(v_queues),
    'left_out', greatest(v_there - v_most_queues, 0),
    'recent', v_recent,
    'lost', v_lost,
    'database', v_database,
    'outbox', v_outbox,
    'last_tick_at', (select leasehold.iso(t.taken_at) from leasehold.turns t where t.name = 'tick'),
    'read_ms', round(extract(epoch from clock_timestamp() - v_began) * 1000, 3)
  );
end
$$;
