import { CONTROL_QUEUE, type Control } from './control.ts';
import {
  COLD_TABLES,
  LANE_COMPLETE,
  LANE_STATEMENTS,
  inputStatements,
  laneClaim,
  laneTable,
} from './reference.ts';

export const wideTable: Control = {
  name: 'wide-table',
  summary: 'one table: the payload lies in the hot row and is copied by every claim',
  on: 'own',
  schema: [
    COLD_TABLES,
    laneTable([
      'payload jsonb not null',
      'created_at timestamptz not null default clock_timestamp()',
    ]),
    laneClaim('select r.job_id, r.fencing_token, r.payload'),
    LANE_COMPLETE,
  ].join(''),
  statements: LANE_STATEMENTS,
  input: inputStatements(
    'job_id, due_at, lane, queue, payload',
    `id, at, 3, '${CONTROL_QUEUE}', payload`,
    { payloadApart: false },
  ),
};
