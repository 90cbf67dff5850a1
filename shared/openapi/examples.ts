import type { JsonObject } from '../json-value.ts';

/** One job, followed through the examples of the document. */
export const JOB_ID = '0193a1b2-c3d4-7e5f-8a6b-0123456789ab';
export const CLAIM_ID = '0193a1b2-d000-7000-8000-00000000c1a1';

const CREATED_AT = '2030-01-31T12:00:00.000Z';

export const ENQUEUE: JsonObject = {
  id: JOB_ID,
  queue: 'emails',
  type: 'email.welcome',
  payload: { to: 'ada@example.com' },
};

export const ENQUEUED: JsonObject = {
  id: JOB_ID,
  queue: 'emails',
  type: 'email.welcome',
  priority: 'normal',
  max_attempts: 5,
  due_at: CREATED_AT,
  created_at: CREATED_AT,
};

export const JOB_SUMMARY: JsonObject = {
  id: JOB_ID,
  queue: 'emails',
  type: 'email.welcome',
  state: 'pending',
  waiting_for: null,
  priority: 'normal',
  due_at: CREATED_AT,
  attempt: 0,
  max_attempts: 5,
  redrives: 0,
  schema_version: 1,
  ordering_key: null,
  dedup_key: null,
  tags: [],
  created_at: CREATED_AT,
  created_by: 'web',
  cancel_requested: null,
  lease: null,
  finished_at: null,
  finished_by: null,
  reason: null,
  note: null,
  dead: null,
  escalated: null,
};

export const JOB: JsonObject = {
  ...JOB_SUMMARY,
  payload: { to: 'ada@example.com' },
  headers: {},
  result: null,
  result_problem: null,
  attempts: [],
  earlier_attempts: null,
  effects: [],
};

export const LEASED_JOB: JsonObject = {
  id: JOB_ID,
  queue: 'emails',
  type: 'email.welcome',
  payload: { to: 'ada@example.com' },
  headers: {},
  schema_version: 1,
  priority: 'normal',
  ordering_key: null,
  created_at: CREATED_AT,
  attempt: 1,
  max_attempts: 5,
  redrives: 0,
  note: null,
  idempotency_key: JOB_ID,
  fencing_token: '7',
  lease_seconds: 30,
  lease_expires_at: '2030-01-31T12:00:31.000Z',
  lease_remaining_ms: 29_990,
  run_deadline_at: '2030-01-31T12:15:01.000Z',
  run_remaining_ms: 899_990,
  more_due: false,
};

export const HELD_JOB: JsonObject = {
  id: JOB_ID,
  queue: 'emails',
  type: 'email.welcome',
  payload: { to: 'ada@example.com' },
  headers: {},
  schema_version: 1,
  priority: 'normal',
  ordering_key: null,
  created_at: CREATED_AT,
  attempt: 3,
  max_attempts: 5,
  redrives: 0,
  reason: 'failures_used_up',
  error: { code: 'smtp_timeout', message: 'No answer in 10 s.' },
  note: null,
  escalated_at: '2030-01-31T12:05:00.000Z',
  fencing_token: '8',
  lease_expires_at: '2030-01-31T13:00:00.000Z',
  lease_remaining_ms: 3_599_990,
};

const NEXT_JOB_ID = '0193a1b2-c3d5-7f60-9b7c-123456789abc';

export const NEXT_JOB: JsonObject = {
  ...LEASED_JOB,
  id: NEXT_JOB_ID,
  idempotency_key: NEXT_JOB_ID,
  payload: { to: 'grace@example.com' },
};

export const SCHEDULE: JsonObject = {
  cron: '0 7 * * 1-5',
  zone: 'Europe/Berlin',
  queue: 'reports',
  type: 'report.daily',
  payload: {},
};
