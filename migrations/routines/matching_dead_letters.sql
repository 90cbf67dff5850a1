-- leasehold.matching_dead_letters: ids of dead jobs that fit a filter, the oldest first, at most p_limit. Every part of the
-- filter may be null. Locks nothing; redrive and discard check again. Used for dry runs and bulk forms.
-- Example: select * from leasehold.matching_dead_letters('emails', null, 'attempts_used_up', null, null, 1001);
create or replace function leasehold.matching_dead_letters(
  p_queue text,
  p_type text,
  p_reason text,
  p_from timestamptz,
  p_until timestamptz,
  p_limit int
)
returns table (job_id uuid)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select d.job_id
  from leasehold.dead_letters d
  join leasehold.jobs j on j.id = d.job_id
  where d.state = 'dead'
    and (p_queue is null or d.queue = p_queue)
    and (p_type is null or j.type = p_type)
    and (p_reason is null or d.reason = p_reason)
    and (p_from is null or d.dead_at >= p_from)
    and (p_until is null or d.dead_at < p_until)
  order by d.dead_at, d.job_id
  limit least(greatest(p_limit, 0), 1001)
$$;
