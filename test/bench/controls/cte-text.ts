import { CONTROL_QUEUE, type Control } from './control.ts';
import { PRODUCT_STATEMENTS } from './product.ts';

/**
 * The same tables, the same comparison of lane heads and the same rows written, sent as statement text: the server
 * parses and plans it at each call, and nothing pins its plan. It leaves out what the routines check besides (limits,
 * pauses, keys, repeated calls), so it has less to do.
 */
const CLAIM = `
with clock as materialized (select clock_timestamp() as now),
head as materialized (
  select l.lane
  from (values (0::smallint, interval '1 day'), (1, interval '15 minutes'), (2, interval '10 minutes'),
    (3, interval '5 minutes'), (4, interval '0')) l (lane, bonus)
  cross join lateral (
    select s.due_at
    from leasehold.job_state s
    where s.queue = '${CONTROL_QUEUE}' and s.lane = l.lane and s.due_at <= (select now from clock)
    order by s.due_at
    limit 1
  ) h
  order by h.due_at - l.bonus
  limit 1
),
picked as materialized (
  select s.job_id
  from leasehold.job_state s
  where s.queue = '${CONTROL_QUEUE}' and s.lane = (select lane from head) and s.due_at <= (select now from clock)
  order by s.due_at
  limit 1
  for no key update skip locked
),
claimed as (
  update leasehold.job_state s
  set lane = 0, due_at = c.now + interval '60 seconds', fencing_token = s.fencing_token + 1, attempt = s.attempt + 1,
    owner = $1::text, claim_id = $2::uuid, started_at = c.now, run_deadline_at = c.now + interval '15 minutes',
    lease_seconds = 60, step = 0, progress = null
  from picked p, clock c
  where s.job_id = p.job_id
  returning s.job_id, s.fencing_token, s.attempt, s.started_at
),
event as (
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  select job_id, started_at, 'claimed', $1::text, fencing_token,
    jsonb_build_object('attempt', attempt, 'lease_seconds', 60)
  from claimed
)
select c.job_id, c.fencing_token, j.type, j.payload, j.headers
from claimed c
join leasehold.jobs j on j.id = c.job_id`;

const COMPLETE = `
with gone as (
  delete from leasehold.job_state s
  where s.job_id = $1::uuid and s.owner = $2::text and s.fencing_token = $3::bigint and s.lane = 0
    and s.due_at > clock_timestamp()
  returning s.*
),
ended as (
  insert into leasehold.attempts (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state)
  select job_id, fencing_token, attempt, owner, started_at, clock_timestamp(), 'succeeded', 'succeeded' from gone
),
finished as (
  insert into leasehold.finished_jobs (job_id, state, attempt, fencing_token, finished_at, finished_by)
  select job_id, 'succeeded', attempt, fencing_token, clock_timestamp(), owner from gone
),
event as (
  insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
  select job_id, clock_timestamp(), 'completed', owner, fencing_token, jsonb_build_object('attempt', attempt) from gone
)
select case when exists (select 1 from gone) then 'succeeded' else 'lease_lost' end as outcome`;

export const cteText: Control = {
  name: 'cte-text',
  summary: 'our tables, claim and complete as statement text instead of routines',
  on: 'product',
  schema: '',
  statements: { ...PRODUCT_STATEMENTS, claim: CLAIM, complete: COMPLETE },
};
