import {
  CONTROL_QUEUE,
  type Control,
  type ControlInput,
  type ControlStatements,
} from './control.ts';

/** Storage settings of the hot table, as in the product. */
export const HOT_TABLE = `with (
  fillfactor = 60,
  vacuum_truncate = off,
  vacuum_index_cleanup = on,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 5000
)`;

/** Settings of a claiming routine, as in the product. */
export const PINNED = `set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off`;

/** What every control writes besides its hot table: the same rows as the product. */
export const COLD_TABLES = `
create schema control;
create table control.jobs (
  id uuid primary key,
  queue text collate "C" not null,
  payload jsonb not null,
  created_at timestamptz not null
);
create table control.attempts (
  job_id uuid not null,
  fencing_token bigint not null,
  owner text not null,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  outcome text not null,
  primary key (job_id, fencing_token)
);
create table control.finished_jobs (
  job_id uuid primary key,
  fencing_token bigint not null,
  finished_at timestamptz not null,
  finished_by text not null
);
create table control.job_events (
  id bigint generated always as identity,
  job_id uuid not null,
  at timestamptz not null,
  type text not null,
  actor text not null,
  fencing_token bigint,
  primary key (job_id, id)
);
`;

/** The hot table: narrow, or with further columns. */
export function laneTable(furtherColumns: readonly string[] = []): string {
  return `
create table control.job_state (
  ${[...LANE_COLUMNS, ...furtherColumns].join(',\n  ')}
) ${HOT_TABLE};
create index job_state_claim on control.job_state (queue, lane, due_at);
`;
}

const LANE_COLUMNS = [
  'job_id uuid primary key',
  'due_at timestamptz not null',
  'fencing_token bigint not null default 0',
  'started_at timestamptz',
  'claim_id uuid',
  'lane smallint not null',
  'queue text collate "C" not null',
  'owner text',
];

const ANSWER = `select j.id, r.fencing_token, j.payload from control.jobs j where j.id = r.job_id`;

/** The head of lane 0 (expired leases) or of lane 3 (ready), locked; then updated in a statement of its own. */
export function laneClaim(answer = ANSWER): string {
  return `
create function control.claim(p_queue text, p_owner text, p_claim_id uuid)
returns table (job_id uuid, fencing_token bigint, payload jsonb)
language plpgsql
${PINNED}
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_lane smallint;
  r control.job_state;
begin
  foreach v_lane in array '{0, 3}'::smallint[] loop
    select s.* into r
    from control.job_state s
    where s.queue = p_queue and s.lane = v_lane and s.due_at <= v_now
    order by s.due_at
    limit 1
    for no key update skip locked;
    exit when found;
  end loop;
  if r.job_id is null then
    return;
  end if;
  update control.job_state s
  set lane = 0, due_at = v_now + interval '60 seconds', fencing_token = s.fencing_token + 1, owner = p_owner,
    claim_id = p_claim_id, started_at = v_now
  where s.job_id = r.job_id
  returning s.* into r;
  insert into control.job_events (job_id, at, type, actor, fencing_token)
  values (r.job_id, v_now, 'claimed', p_owner, r.fencing_token);
  return query ${answer};
end
$$;
`;
}

export const LANE_COMPLETE = `
create function control.complete(p_job_id uuid, p_owner text, p_fencing_token bigint)
returns table (outcome text)
language plpgsql
${PINNED}
as $$
declare
  v_now timestamptz := clock_timestamp();
  r control.job_state;
begin
  delete from control.job_state s
  where s.job_id = p_job_id and s.fencing_token = p_fencing_token and s.owner = p_owner and s.lane = 0
    and s.due_at > v_now
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

/** Statements over tables and routines of the reference's names; a control replaces what differs. */
export const LANE_STATEMENTS: ControlStatements = {
  claim: `select * from control.claim('${CONTROL_QUEUE}', $1::text, $2::uuid)`,
  complete: 'select * from control.complete($1::uuid, $2::text, $3::bigint)',
  hold: `update control.job_state s
    set lane = 0, due_at = clock_timestamp() + interval '1 hour', owner = 'held', started_at = clock_timestamp()
    from (select h.job_id from control.job_state h where h.lane = 3 order by h.due_at limit $1::int) h
    where s.job_id = h.job_id`,
  pending: 'select count(*)::int from control.job_state where lane = 3',
};

export const LANE_INPUT = inputStatements(
  'job_id, due_at, lane, queue',
  `id, at, 3, '${CONTROL_QUEUE}'`,
);

/** How jobs come in: into the hot table with these columns and values, and into the cold ones. */
export function inputStatements(
  columns: string,
  values: string,
  { payloadApart = true } = {},
): ControlInput {
  const jobs = `new_jobs as (
    insert into control.jobs (id, queue, payload, created_at)
    select id, '${CONTROL_QUEUE}', payload, at from input
  ),`;
  const insert = (input: string): string => `with input as materialized (${input}),
  ${payloadApart ? jobs : ''}
  new_events as (
    insert into control.job_events (job_id, at, type, actor) select id, at, 'created', 'bench' from input
  )
  insert into control.job_state (${columns}) select ${values} from input`;
  return {
    enqueue: insert(`select uuidv7() as id, p.value as payload,
    clock_timestamp() + make_interval(secs => p.ordinality / 1000000.0) as at
    from jsonb_array_elements($1::jsonb) with ordinality p`),
    fill: insert(`select uuidv7() as id, $2::jsonb as payload,
    clock_timestamp() - make_interval(secs => ($1::int - n) / 1000000.0) as at
    from generate_series(1, $1::int) n`),
  };
}

/** The product's decisions in the controls' small schema: what the others are compared with. */
export const reference: Control = {
  name: 'reference',
  summary: 'our decisions in the small schema of the controls',
  on: 'own',
  schema: COLD_TABLES + laneTable() + laneClaim() + LANE_COMPLETE,
  statements: LANE_STATEMENTS,
  input: LANE_INPUT,
};
