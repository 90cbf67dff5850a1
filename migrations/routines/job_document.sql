-- leasehold.job_document: one job as the API shows it, without its attempts. Ids, tokens and other 64-bit numbers are
-- strings and instants carry an offset, so that no client rounds or shifts them. It is planned once, and not for each job of a
-- page: that takes ten times as long as reading it, with the partitions of finished_jobs. Internal: reads of jobs call it.
create or replace function leasehold.job_document(j leasehold.jobs) returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
  select jsonb_build_object(
    'id', j.id,
    'queue', j.queue,
    'type', j.type,
    'state', case
      when s.lane = 0 and s.due_at > clock_timestamp() then 'running'
      when s.job_id is not null then 'pending'
      when d.job_id is not null then d.state
      else f.state
    end,
    'waiting_for', case
      when s.lane = 9 then 'ordering_key'
      when s.lane between 1 and 4 and s.due_at > clock_timestamp() then 'time'
      when s.job_id is not null and not (s.lane = 0 and s.due_at > clock_timestamp())
        and exists (select 1 from leasehold.queues q where q.name = j.queue and q.paused_at is not null) then 'pause'
    end,
    'priority', leasehold.lane_priority(coalesce(s.home_lane, d.home_lane, j.home_lane)),
    'due_at', leasehold.iso(case when s.lane > 0 then s.due_at else j.due_at end),
    'attempt', coalesce(s.attempt, d.attempt, f.attempt),
    'max_attempts', j.max_attempts,
    'redrives', coalesce(s.redrives, d.redrives),
    'schema_version', j.schema_version,
    'ordering_key', j.ordering_key,
    'dedup_key', j.dedup_key,
    'tags', coalesce(to_jsonb(j.tags), '[]'),
    'created_at', leasehold.iso(j.created_at),
    'created_by', j.created_by,
    'cancel_requested', case
      when s.cancel_requested_at is not null then jsonb_build_object(
        'at', leasehold.iso(s.cancel_requested_at), 'by', s.cancel_requested_by, 'reason', s.cancel_reason
      )
    end,
    'lease', case
      when s.lane = 0 and s.due_at > clock_timestamp() then jsonb_build_object(
        'owner', s.owner,
        'fencing_token', s.fencing_token::text,
        'expires_at', leasehold.iso(s.due_at),
        'run_deadline_at', leasehold.iso(s.run_deadline_at),
        'progress', s.progress
      )
    end,
    'finished_at', leasehold.iso(f.finished_at),
    'finished_by', f.finished_by,
    'reason', f.reason,
    'note', s.note,
    'dead', case when d.state = 'dead' then a.side end,
    'escalated', case
      when d.state = 'escalated' then a.side || case
        when d.held_until > clock_timestamp() then jsonb_build_object(
          'held_by', d.held_by, 'held_since', leasehold.iso(d.held_since), 'held_until', leasehold.iso(d.held_until),
          'fencing_token', d.fencing_token::text
        )
        else '{"held_by": null, "held_since": null, "held_until": null, "fencing_token": null}'
      end
    end
  )
  from (select 1) one
  left join leasehold.job_state s on s.job_id = j.id
  left join leasehold.dead_letters d on d.job_id = j.id
  left join leasehold.finished_jobs f on f.job_id = j.id
  cross join lateral (
    select jsonb_build_object(
      'reason', d.reason, 'error', d.error, 'since', leasehold.iso(d.dead_at), 'owner', d.owner, 'note', d.note,
      'blocks_ordering_key', d.blocks_key is not null
    )
  ) a (side)
$$;
