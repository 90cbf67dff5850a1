import type { Control } from './control.ts';
import {
  COLD_TABLES,
  PINNED,
  laneClaim,
  LANE_INPUT,
  LANE_STATEMENTS,
  laneTable,
} from './reference.ts';

/** Lane 10 is "done": the row stays in the hot table and its index, and stands in for the row in finished_jobs. */
const COMPLETE = `
create function control.complete(p_job_id uuid, p_owner text, p_fencing_token bigint)
returns table (outcome text)
language plpgsql
${PINNED}
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_started_at timestamptz;
begin
  update control.job_state s
  set lane = 10, due_at = v_now
  where s.job_id = p_job_id and s.fencing_token = p_fencing_token and s.owner = p_owner and s.lane = 0
    and s.due_at > v_now
  returning s.started_at into v_started_at;
  if not found then
    return query select 'lease_lost';
    return;
  end if;
  insert into control.attempts values (p_job_id, p_fencing_token, p_owner, v_started_at, v_now, 'succeeded');
  insert into control.job_events (job_id, at, type, actor, fencing_token)
  values (p_job_id, v_now, 'completed', p_owner, p_fencing_token);
  return query select 'succeeded';
end
$$;
`;

export const statusUpdate: Control = {
  name: 'status-update',
  summary: 'complete updates the hot row to done instead of deleting it',
  on: 'own',
  schema: COLD_TABLES + laneTable() + laneClaim() + COMPLETE,
  statements: LANE_STATEMENTS,
  input: LANE_INPUT,
};
