import { CONTROL_QUEUE, type Control, type ControlStatements } from './control.ts';
import { COLD_TABLES, HOT_TABLE, LANE_STATEMENTS, inputStatements } from './reference.ts';

/** Pending and running rows keep separate columns, so "may be claimed" is an OR over two of them. */
function orSchema(index: string): string {
  return `${COLD_TABLES}
create table control.job_state (
  job_id uuid primary key,
  due_at timestamptz not null,
  lease_expires_at timestamptz,
  fencing_token bigint not null default 0,
  started_at timestamptz,
  claim_id uuid,
  status text collate "C" not null,
  queue text collate "C" not null,
  owner text
) ${HOT_TABLE};
create index job_state_claim on control.job_state (${index});

create function control.claim(p_queue text, p_owner text, p_claim_id uuid)
returns table (job_id uuid, fencing_token bigint, payload jsonb)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  r control.job_state;
begin
  select s.* into r
  from control.job_state s
  where s.queue = p_queue
    and ((s.status = 'pending' and s.due_at <= v_now) or (s.status = 'running' and s.lease_expires_at <= v_now))
  order by s.due_at
  limit 1
  for no key update skip locked;
  if r.job_id is null then
    return;
  end if;
  update control.job_state s
  set status = 'running', lease_expires_at = v_now + interval '60 seconds', fencing_token = s.fencing_token + 1,
    owner = p_owner, claim_id = p_claim_id, started_at = v_now
  where s.job_id = r.job_id
  returning s.* into r;
  insert into control.job_events (job_id, at, type, actor, fencing_token)
  values (r.job_id, v_now, 'claimed', p_owner, r.fencing_token);
  return query select j.id, r.fencing_token, j.payload from control.jobs j where j.id = r.job_id;
end
$$;

create function control.complete(p_job_id uuid, p_owner text, p_fencing_token bigint)
returns table (outcome text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  r control.job_state;
begin
  delete from control.job_state s
  where s.job_id = p_job_id and s.fencing_token = p_fencing_token and s.owner = p_owner and s.status = 'running'
    and s.lease_expires_at > v_now
  returning s.* into r;
  if not found then
    return query select 'lease_lost';
    return;
  end if;
  insert into control.attempts values (r.job_id, r.fencing_token, r.owner, r.started_at, v_now, 'succeeded');
  insert into control.finished_jobs values (r.job_id, r.fencing_token, v_now, r.owner);
  insert into control.job_events (job_id, at, type, actor, fencing_token)
  values (r.job_id, v_now, 'completed', r.owner, r.fencing_token);
  return query select 'succeeded';
end
$$;
`;
}

const INPUT = inputStatements(
  'job_id, due_at, status, queue',
  `id, at, 'pending', '${CONTROL_QUEUE}'`,
);

const STATEMENTS: ControlStatements = {
  ...LANE_STATEMENTS,
  hold: `update control.job_state s
    set status = 'running', lease_expires_at = clock_timestamp() + interval '1 hour', owner = 'held',
      started_at = clock_timestamp()
    from (select h.job_id from control.job_state h where h.status = 'pending' order by h.due_at limit $1::int) h
    where s.job_id = h.job_id`,
  pending: `select count(*)::int from control.job_state where status = 'pending'`,
};

/** The index that fits each half of the predicate: the whole needs every due row, sorted. */
export const orPredicate: Control = {
  name: 'or-predicate',
  summary: 'pending OR lease expired, over (queue, status, due_at)',
  on: 'own',
  schema: orSchema('queue, status, due_at'),
  statements: STATEMENTS,
  input: INPUT,
};

/** The index that fits the order: every running row in front of the first pending one is read and thrown away. */
export const orPredicateInOrder: Control = {
  name: 'or-in-order',
  summary: 'pending OR lease expired, over (queue, due_at)',
  on: 'own',
  schema: orSchema('queue, due_at'),
  statements: STATEMENTS,
  input: INPUT,
};
