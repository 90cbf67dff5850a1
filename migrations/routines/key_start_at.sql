-- leasehold.key_start_at: when a job of an ordering key may start under its queue's rate limit for keys: p_earliest, or later
-- when the starts of one interval are used up. It goes by the starts that were made, which claim records, and reserves
-- nothing: claim asks again, so that jobs which were due long before anybody came do not start all at once. Internal.
create or replace function leasehold.key_start_at(q leasehold.queues, p_key text, p_earliest timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limiting timestamptz;
begin
  if q.key_rate_limit is null then
    return p_earliest;
  end if;
  -- The start that leaves the window last: with it inside, the window is full.
  select s.at
  into v_limiting
  from leasehold.rate_starts s
  where s.queue = q.name and s.key = p_key
  order by s.at desc
  offset q.key_rate_limit - 1
  limit 1;
  return greatest(p_earliest, v_limiting + make_interval(secs => q.key_rate_interval_ms / 1000.0));
end
$$;
