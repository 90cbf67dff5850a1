import type { JsonObject, JsonValue } from '../json-value.ts';
import { jobId } from '../schemas/job-id.ts';
import { queueName } from '../schemas/names.ts';
import type { ComponentName } from './components.ts';
import { CLAIM_ID, LEASED_JOB, NEXT_JOB } from './examples.ts';
import type { Operation } from './operation.ts';

const tag = 'Claims and leases';
const CLAIM = { claim_id: CLAIM_ID, jobs: [LEASED_JOB] };
const FENCING_TOKEN = '7';
const CLAIM_RULES =
  'Choose a `claim_id`: repeated after a lost answer, it gives the same leases. With `wait`, the answer comes as soon as there is a job.';

export const LEASE_OPERATIONS: readonly Operation[] = [
  {
    id: 'claimFromQueue',
    method: 'post',
    path: '/v1/queues/{queue}/claims',
    tag,
    summary: 'Claim jobs of one queue',
    description: CLAIM_RULES,
    access: 'work',
    database: true,
    params: { queue: queueName },
    body: {
      schema: 'ClaimRequest',
      optional: true,
      example: { claim_id: CLAIM_ID, limit: 1, wait: 20 },
    },
    success: {
      200: {
        description: 'The jobs and the leases on them; none when there was nothing.',
        schema: 'Claim',
        example: CLAIM,
      },
    },
  },
  {
    id: 'claimFromQueues',
    method: 'post',
    path: '/v1/claims',
    tag,
    summary: 'Claim jobs of several queues',
    description: `All jobs come from the first queue that has any; the order is random, by weight. ${CLAIM_RULES}`,
    access: 'work',
    database: true,
    body: {
      schema: 'ClaimQueuesRequest',
      example: { queues: ['emails', { name: 'reports', weight: 3 }], claim_id: CLAIM_ID },
    },
    success: {
      200: {
        description: 'The jobs and the leases on them; none when there was nothing.',
        schema: 'Claim',
        example: CLAIM,
      },
    },
  },
  leaseOperation('heartbeat', {
    summary: 'Keep a lease',
    description:
      'Renews the lease against proof of progress: a `step` that grew or a `progress` that moved. `lease_lost` means: stop, someone else may hold the job.',
    request: ['HeartbeatRequest', { step: 4, progress: '40 of 100 rows' }],
    response: [
      'HeartbeatOutcome',
      'The lease holds.',
      {
        outcome: 'held',
        lease_expires_at: '2030-01-31T12:01:00.000Z',
        lease_remaining_ms: 30_000,
        cancel_requested: false,
      },
    ],
  }),
  leaseOperation('complete', {
    summary: 'Report success',
    description:
      'Ends the job. With `claim_next`, the next job comes with the answer: a busy worker needs one call a job. Repeated after a lost answer, it gives the same answer, and with the same `claim_id` the same lease. After `lease_lost` nothing is claimed.',
    request: [
      'CompleteRequest',
      { result: { sent: true }, claim_next: { queue: 'emails', claim_id: CLAIM_ID } },
    ],
    response: [
      'CompleteOutcome',
      'The job has ended.',
      { outcome: 'succeeded', more_due: false, next: NEXT_JOB },
    ],
  }),
  leaseOperation('fail', {
    summary: 'Report a failure',
    description:
      'Ends the attempt: the job waits for its next try, is dead, or, in a queue that escalates, waits for a person: then `escalated` stands beside `dead`. Say `permanent` when no try can help, `transient` when the fault will pass.',
    request: [
      'FailRequest',
      { error: { code: 'smtp_timeout', message: 'No answer in 10 s.' }, class: 'transient' },
    ],
    response: [
      'FailOutcome',
      'What became of the job.',
      { outcome: 'pending', due_at: '2030-01-31T12:00:04.000Z', more_due: false },
    ],
  }),
  leaseOperation('release', {
    summary: 'Give a job back',
    description: 'Anyone may claim it at once.',
    request: ['ReleaseRequest', { reason: 'shutting down' }],
    response: [
      'GivenBackOutcome',
      'What became of the job.',
      { outcome: 'pending', due_at: '2030-01-31T12:00:02.000Z' },
    ],
  }),
  leaseOperation('escalate', {
    summary: 'Ask a person',
    description:
      'For what a worker cannot or must not decide: the attempt ends, and the job waits for a person, who completes it, sends it back with a note or gives it up.',
    request: ['EscalateRequest', { question: 'The order has two addresses: which one counts?' }],
    response: [
      'EscalateOutcome',
      'What became of the job.',
      { outcome: 'escalated', more_due: false },
    ],
  }),
  leaseOperation('snooze', {
    summary: 'Not now',
    description: 'The job waits, and no attempt is spent.',
    request: ['SnoozeRequest', { delay_seconds: 3600, reason: 'The shop opens at nine.' }],
    response: [
      'GivenBackOutcome',
      'What became of the job.',
      { outcome: 'pending', due_at: '2030-01-31T13:00:00.000Z' },
    ],
  }),
];

function leaseOperation(
  verb: string,
  about: {
    readonly summary: string;
    readonly description: string;
    readonly request: readonly [schema: ComponentName, example: JsonObject];
    readonly response: readonly [schema: ComponentName, description: string, example: JsonValue];
  },
): Operation {
  const [request, body] = about.request;
  const [schema, description, example] = about.response;
  return {
    id: `${verb}Lease`,
    method: 'post',
    path: `/v1/leases/{id}/${verb}`,
    tag,
    summary: about.summary,
    description: about.description,
    access: 'work',
    database: true,
    params: { id: jobId },
    body: { schema: request, example: { fencing_token: FENCING_TOKEN, ...body } },
    success: { 200: { description, schema, example } },
    errors: ['lease_lost', 'not_found'],
  };
}
