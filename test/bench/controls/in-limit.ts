import type { Control } from './control.ts';
import { COLD_TABLES, LANE_COMPLETE, LANE_INPUT, LANE_STATEMENTS, laneTable } from './reference.ts';

/** One statement that picks and marks: the planner decides how often its inner select runs. */
export const IN_LIMIT_CLAIM = `
create function control.claim(p_queue text, p_owner text, p_claim_id uuid, p_limit int default 1)
returns table (job_id uuid, fencing_token bigint, payload jsonb)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_lane smallint;
begin
  foreach v_lane in array '{0, 3}'::smallint[] loop
    return query
    with taken as (
      update control.job_state s
      set lane = 0, due_at = v_now + interval '60 seconds', fencing_token = s.fencing_token + 1, owner = p_owner,
        claim_id = p_claim_id, started_at = v_now
      where s.job_id in (
        select i.job_id
        from control.job_state i
        where i.queue = p_queue and i.lane = v_lane and i.due_at <= v_now
        order by i.due_at
        limit p_limit
        for update skip locked
      )
      returning s.job_id, s.fencing_token
    ),
    new_events as (
      insert into control.job_events (job_id, at, type, actor, fencing_token)
      select t.job_id, v_now, 'claimed', p_owner, t.fencing_token from taken t
    )
    select t.job_id, t.fencing_token, j.payload from taken t join control.jobs j on j.id = t.job_id;
    exit when found;
  end loop;
end
$$;
`;

export const inLimit: Control = {
  name: 'in-limit',
  summary: 'update … where id in (select … limit 1 for update skip locked)',
  on: 'own',
  schema: COLD_TABLES + laneTable() + IN_LIMIT_CLAIM + LANE_COMPLETE,
  statements: LANE_STATEMENTS,
  input: LANE_INPUT,
};
