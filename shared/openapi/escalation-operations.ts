import type { JsonObject } from '../json-value.ts';
import { jobId } from '../schemas/job-id.ts';
import { listDeadLettersQuery } from '../schemas/list-dead-letters-query.ts';
import type { ComponentName } from './components.ts';
import { CLAIM_ID, HELD_JOB } from './examples.ts';
import type { Operation } from './operation.ts';

const tag = 'Escalations';

export const ESCALATION_OPERATIONS: readonly Operation[] = [
  {
    id: 'listEscalations',
    method: 'get',
    path: '/v1/escalations',
    tag,
    summary: 'List jobs that wait for a person',
    description: 'Those that have waited longest first, with who holds them.',
    access: 'read',
    database: true,
    query: listDeadLettersQuery,
    success: { 200: { description: 'A page of escalated jobs.', schema: 'JobPage' } },
  },
  {
    id: 'claimEscalation',
    method: 'post',
    path: '/v1/escalations/claims',
    tag,
    summary: 'Take an escalated job',
    description:
      'The one named by `job_id`, or the one that has waited longest. Choose a `claim_id`: repeated, it gives the same hold, and a `lease_seconds` that reaches further lengthens it. Default: 15 minutes.',
    access: 'human',
    database: true,
    body: {
      schema: 'ClaimEscalatedRequest',
      optional: true,
      example: { queue: 'emails', claim_id: CLAIM_ID, lease_seconds: 3600 },
    },
    success: {
      200: {
        description: 'The job and your hold on it; null when none is free.',
        schema: 'HeldClaim',
        example: { claim_id: CLAIM_ID, job: HELD_JOB },
      },
    },
    errors: ['not_found'],
  },
  settling('complete', {
    summary: 'Report that you did the work',
    description: 'The job has succeeded, by you.',
    request: ['CompleteEscalatedRequest', { result: { sent: true }, note: 'Sent by post.' }],
    outcome: { outcome: 'succeeded' },
  }),
  settling('send-back', {
    summary: 'Send an escalated job back to its queue',
    description:
      'With fresh budgets; whoever claims it gets the note with the job. `dedup_key_taken`: another live job has its dedup key, and your hold goes on.',
    request: ['SendBackRequest', { note: 'Use the address on the invoice.' }],
    outcome: { outcome: 'pending', due_at: '2030-01-31T14:00:00.000Z' },
    errors: ['dedup_key_taken'],
  }),
  settling('discard', {
    summary: 'Give an escalated job up',
    description: 'For good: it ends as cancelled.',
    request: ['DiscardEscalatedRequest', { reason: 'The order was withdrawn.' }],
    outcome: { outcome: 'cancelled' },
  }),
  settling('release', {
    summary: 'Let go of an escalated job',
    description: 'Your hold ends; the job goes on waiting for a person.',
    request: ['ReleaseEscalatedRequest', {}],
    outcome: { outcome: 'escalated' },
  }),
];

function settling(
  verb: 'complete' | 'send-back' | 'discard' | 'release',
  about: {
    readonly summary: string;
    readonly description: string;
    readonly request: readonly [schema: ComponentName, example: JsonObject];
    readonly outcome: JsonObject;
    readonly errors?: Operation['errors'];
  },
): Operation {
  const [request, body] = about.request;
  return {
    id: `${verb === 'send-back' ? 'sendBack' : verb}Escalation`,
    method: 'post',
    path: `/v1/escalations/{id}/${verb}`,
    tag,
    summary: about.summary,
    description: `${about.description} Needs your hold, unexpired. Repeated after a lost answer, it gives the same answer.`,
    access: 'human',
    database: true,
    params: { id: jobId },
    body: { schema: request, example: { fencing_token: '8', ...body } },
    success: {
      200: {
        description: 'What became of the job.',
        schema: 'SettledEscalation',
        example: about.outcome,
      },
    },
    errors: ['lease_lost', 'not_found', ...(about.errors ?? [])],
  };
}
