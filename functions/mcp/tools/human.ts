import { z } from 'zod';

import { MAX_PAGE_SIZE } from '../../../shared/limits.ts';
import {
  claimEscalatedRequest,
  completeEscalatedRequest,
  discardEscalatedRequest,
  sendBackRequest,
} from '../../../shared/schemas/escalation-requests.ts';
import { integer } from '../../../shared/schemas/integer.ts';
import { anyJson, instantText, uuidText } from '../../../shared/schemas/response-parts.ts';
import { isJsonObject } from '../../../shared/json-value.ts';
import type { ApiRequest } from '../api-call.ts';
import { heldJob } from '../held-job.ts';
import { adviceField, leaseFields } from '../lease-fields.ts';
import { tool } from '../tool.ts';

const FOR_A_PERSON =
  'For a person, with a token of theirs: decide nothing yourself, do what the person told you.';
const HELD_BY_CLAIM = 'Wants the `job.id` and `job.fencing_token` of `claim_escalated`.';

export const listEscalations = tool({
  name: 'list_escalations',
  title: 'List jobs that wait for a person',
  description:
    'Jobs that wait for a person, those that have waited longest first: why (`escalated.reason`, `escalated.error`; with the reason ' +
    "`asked_for_human` its message is an agent's question) and who holds one (`escalated.held_by`). Answers `{jobs, next_cursor}`.",
  scope: 'read',
  hints: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    queue: claimEscalatedRequest.shape.queue.describe('Of this queue alone.'),
    limit: integer(1, MAX_PAGE_SIZE).default(20).describe('At most this many.'),
    cursor: z.string().optional().describe('`next_cursor` of the page before.'),
  }),
  request: (query) => ({ method: 'GET', path: '/v1/escalations', query }),
});

export const claimEscalated = tool({
  name: 'claim_escalated',
  title: 'Take a job that waits for a person',
  description:
    'Takes a job that waits for a person: the one that has waited longest, or the one named by `job_id`. Nobody else can settle it ' +
    'meanwhile. Answers `{job, claim_id}`; `job` is null when none is free. `job.reason` and `job.error` say why it waits; with the reason ' +
    "`asked_for_human` the message is an agent's question. End it with one of `complete_escalated`, `send_back`, `discard_escalated` " +
    `or \`release_escalated\`. ${FOR_A_PERSON}`,
  scope: 'human',
  hints: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false,
  },
  input: z.strictObject({
    queue: claimEscalatedRequest.shape.queue.describe('Of this queue alone.'),
    job_id: claimEscalatedRequest.shape.job_id.describe('This very job.'),
    lease_seconds: claimEscalatedRequest.shape.lease_seconds.describe(
      'How long it is held; default 900.',
    ),
    claim_id: claimEscalatedRequest.shape.claim_id.describe(
      'A new UUID of yours. If the answer is lost, repeat the call with the same one.',
    ),
  }),
  output: z.object({
    claim_id: uuidText,
    job: heldJob
      .pick({
        id: true,
        queue: true,
        type: true,
        payload: true,
        fencing_token: true,
        attempt: true,
        lease_expires_at: true,
      })
      .extend({ reason: z.string(), error: anyJson, note: z.string().nullable() })
      .nullable(),
    ...adviceField,
  }),
  request: (body) => ({ method: 'POST', path: '/v1/escalations/claims', body }),
  answer: (body) =>
    isJsonObject(body['job'] ?? null)
      ? body
      : { ...body, advice: 'No job waits for a person, or others hold those that do.' },
});

const SETTLES = {
  scope: 'human',
  hints: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  output: z.object({
    outcome: z.enum(['succeeded', 'pending', 'cancelled', 'escalated', 'lease_lost']),
    due_at: instantText.optional(),
    ...adviceField,
  }),
} as const;

export const completeEscalated = tool({
  name: 'complete_escalated',
  title: 'Settle a job as done',
  description: `Ends a job that waited for a person as done, because the person did it. ${HELD_BY_CLAIM} ${FOR_A_PERSON}`,
  ...SETTLES,
  input: z.strictObject({
    ...leaseFields,
    result: completeEscalatedRequest.shape.result.describe('What came of it: any JSON.'),
    note: completeEscalatedRequest.shape.note.describe('For the log.'),
  }),
  request: (input) => escalationRequest('complete', input),
});

export const sendBack = tool({
  name: 'send_back',
  title: 'Send a job back with a note',
  description:
    'Sends a job that waited for a person back to its queue, with fresh tries: the next holder, an agent, gets the note with the ' +
    `claim. This is how a question of an agent is answered. ${HELD_BY_CLAIM} ${FOR_A_PERSON}`,
  ...SETTLES,
  input: z.strictObject({
    ...leaseFields,
    note: sendBackRequest.shape.note.describe('The answer or advice of the person.'),
  }),
  request: (input) => escalationRequest('send-back', input),
});

export const discardEscalated = tool({
  name: 'discard_escalated',
  title: 'Give a job up',
  description: `Gives a job up that waited for a person: it ends as cancelled and nobody does it. ${HELD_BY_CLAIM} ${FOR_A_PERSON}`,
  ...SETTLES,
  hints: { ...SETTLES.hints, destructiveHint: true },
  input: z.strictObject({
    ...leaseFields,
    reason: discardEscalatedRequest.shape.reason.describe('Why nobody has to do it, for people.'),
  }),
  request: (input) => escalationRequest('discard', input),
});

export const releaseEscalated = tool({
  name: 'release_escalated',
  title: 'Leave a job to another person',
  description: `Lets go of a job that waits for a person; it goes on waiting. ${HELD_BY_CLAIM} ${FOR_A_PERSON}`,
  ...SETTLES,
  input: z.strictObject(leaseFields),
  request: (input) => escalationRequest('release', input),
});

export const HUMAN_TOOLS = [
  listEscalations,
  claimEscalated,
  completeEscalated,
  sendBack,
  discardEscalated,
  releaseEscalated,
];

function escalationRequest(
  verb: string,
  { job_id, ...body }: { readonly job_id: string; readonly [field: string]: unknown },
): ApiRequest {
  return { method: 'POST', path: `/v1/escalations/${job_id}/${verb}`, body };
}
