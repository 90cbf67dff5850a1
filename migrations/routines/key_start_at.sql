-- leasehold.key_start_at: reserves the next start of an ordering key under its queue's rate limit for keys, and returns the
-- instant: p_earliest, or later when the starts of one interval are used up. Without such a limit it reserves nothing.
-- The caller holds the key's lock. Internal.
create or replace function leasehold.key_start_at(q leasehold.queues, p_key text, p_earliest timestamptz)
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_interval interval := make_interval(secs => q.key_rate_interval_ms / 1000.0);
  v_limiting timestamptz;
  v_start timestamptz := p_earliest;
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
  v_start := greatest(p_earliest, v_limiting + v_interval);
  insert into leasehold.rate_starts (queue, key, at) values (q.name, p_key, v_start);
  return v_start;
end
$$;
