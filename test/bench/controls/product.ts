import { CONTROL_QUEUE, type Control, type ControlStatements } from './control.ts';

/** The product's routines, for what is built on them. */
export const PRODUCT_STATEMENTS: ControlStatements = {
  claim: `select * from leasehold.claim('${CONTROL_QUEUE}', $1::text, $2::uuid, 60)`,
  complete: 'select * from leasehold.complete($1::uuid, $2::text, $3::bigint)',
  hold: `update leasehold.job_state s
    set lane = 0, due_at = clock_timestamp() + interval '1 hour', owner = 'held', started_at = clock_timestamp(),
      run_deadline_at = clock_timestamp() + interval '1 hour', lease_seconds = 3600, attempt = 1, fencing_token = 1
    from (
      select h.job_id from leasehold.job_state h
      where h.queue = '${CONTROL_QUEUE}' and h.lane = 3
      order by h.due_at
      limit $1::int
    ) h
    where s.job_id = h.job_id`,
  pending: `select count(*)::int from leasehold.job_state where queue = '${CONTROL_QUEUE}' and lane = 3`,
};

/** Ours as it is, measured the way the controls are. */
export const product: Control = {
  name: 'Leasehold',
  summary: 'as it is',
  on: 'product',
  schema: '',
  statements: PRODUCT_STATEMENTS,
};
