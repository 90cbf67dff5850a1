-- leasehold.newest_events: events of jobs since an instant, newest first, p_cap at most. Reads the feed's index backwards and
-- stops at the instant: the cost grows with what has happened since, never with the log. p_cap rows came back: there are more,
-- and what came covers the time from the last row on. Internal: overview and metrics call it.
create or replace function leasehold.newest_events(p_since timestamptz, p_cap int)
returns setof leasehold.job_events
language plpgsql
stable
rows 1000
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  e leasehold.job_events;
begin
  for e in
    select x.* from leasehold.job_events x order by x.xact_id desc, x.id desc limit p_cap
  loop
    -- Transactions do not end in the order of their ids, so one that is a little too old does not end the walk.
    exit when e.at < p_since - interval '30 seconds';
    if e.at >= p_since then
      return next e;
    end if;
  end loop;
end
$$;
