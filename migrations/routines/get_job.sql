-- leasehold.get_job: everything about one job: payload, state, lease, result, ended attempts (the newest 100, newest last;
-- "earlier_attempts" says where the history of the others is, else it is null), effects.
-- Returns null when no job has this id. Example: select leasehold.get_job('…');
create or replace function leasehold.get_job(p_job_id uuid) returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select leasehold.job_document(j)
    || jsonb_build_object(
      'payload', j.payload,
      'headers', j.headers,
      'result', f.result,
      'result_problem', f.result_problem,
      'attempts', (
        select coalesce(
          jsonb_agg(
            jsonb_build_object(
              'fencing_token', a.fencing_token::text,
              'attempt', a.attempt,
              'owner', a.owner,
              'started_at', leasehold.iso(a.started_at),
              'ended_at', leasehold.iso(a.ended_at),
              'outcome', a.outcome,
              'next_state', a.next_state,
              'retry_at', leasehold.iso(a.retry_at),
              'failure_class', a.failure_class,
              'error', a.error
            )
            order by a.fencing_token
          ),
          '[]'
        )
        from (
          select * from leasehold.attempts x where x.job_id = j.id order by x.fencing_token desc limit 100
        ) a
      ),
      'earlier_attempts', case
        when exists (select 1 from leasehold.attempts x where x.job_id = j.id offset 100) then
          format('/v1/jobs/%s/events', j.id)
      end,
      'effects', (
        select coalesce(
          jsonb_agg(
            jsonb_build_object(
              'key', e.key,
              'state', case
                when e.state = 'started' and not coalesce(
                  s.lane = 0 and s.due_at > clock_timestamp() and s.fencing_token = e.fencing_token, false
                ) then 'uncertain'
                else e.state
              end,
              'fencing_token', e.fencing_token::text,
              'started_at', leasehold.iso(e.started_at),
              'settled_at', leasehold.iso(e.settled_at),
              'settled_by', e.settled_by,
              'result', e.result
            )
            order by e.started_at, e.key
          ),
          '[]'
        )
        from leasehold.effects e
        left join leasehold.job_state s on s.job_id = e.job_id
        where e.job_id = j.id
      )
    )
  from leasehold.jobs j
  left join leasehold.finished_jobs f on f.job_id = j.id
  where j.id = p_job_id
$$;
