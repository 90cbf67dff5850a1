-- leasehold.inbox_metrics: what each consumer has recorded since an instant, from the newest p_cap records at most; see
-- leasehold.outbox_metrics. Consumers with parked events are there even when they recorded nothing. Internal.
create or replace function leasehold.inbox_metrics(p_since timestamptz, p_cap int) returns jsonb
language sql
stable
as $$
  with recent as (
    select i.consumer, i.at, i.duplicates, i.event_id
    from leasehold.inbox_events i
    where i.at >= p_since
    order by i.at desc
    limit p_cap
  ),
  recorded as (
    select
      r.consumer,
      count(*) as accepted,
      sum(r.duplicates) as duplicates,
      max(r.at) as last_at,
      avg(extract(epoch from r.at - e.created_at) * 1000)::bigint as mean_lag_ms,
      max(extract(epoch from r.at - e.created_at) * 1000)::bigint as longest_lag_ms
    from recent r
    left join leasehold.outbox_events e
      -- Ids of other senders need not be UUIDs.
      on e.id = case when pg_input_is_valid(r.event_id, 'uuid') then r.event_id::uuid end
    group by r.consumer
  ),
  parked as (
    select k.consumer, count(*) as parked
    from (select p.consumer from leasehold.inbox_parked p limit p_cap) k
    group by k.consumer
  )
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'consumer', coalesce(r.consumer, k.consumer),
        'accepted', coalesce(r.accepted, 0),
        'duplicates', coalesce(r.duplicates, 0),
        'last_at', leasehold.iso(r.last_at),
        'mean_lag_ms', r.mean_lag_ms,
        'longest_lag_ms', r.longest_lag_ms,
        'parked', coalesce(k.parked, 0)
      )
      order by coalesce(r.consumer, k.consumer)
    ),
    '[]'
  )
  from recorded r
  full join parked k on k.consumer = r.consumer
$$;
