import { z } from 'zod';

import { isJsonObject } from '../../../shared/json-value.ts';
import type { JsonObject } from '../../../shared/json-value.ts';
import {
  MAX_CLAIM_QUEUES,
  MAX_LEASE_SECONDS,
  MAX_WAIT_SECONDS,
  MIN_LEASE_SECONDS,
} from '../../../shared/limits.ts';
import { claimId } from '../../../shared/schemas/claim-id.ts';

import { integer } from '../../../shared/schemas/integer.ts';
import { queueName } from '../../../shared/schemas/names.ts';
import { uuidText } from '../../../shared/schemas/response-parts.ts';
import { invalidRequest } from '../../middleware/read-json.ts';
import { heldJob } from '../held-job.ts';
import { adviceField } from '../lease-fields.ts';
import { tool } from '../tool.ts';
import type { ToolCaller } from '../tool.ts';

export const leaseSeconds = integer(MIN_LEASE_SECONDS, MAX_LEASE_SECONDS)
  .optional()
  .describe("How long the lease lasts before it must be renewed; default: the queue's.");

export const claim = tool({
  name: 'claim',
  title: 'Take the next job',
  description:
    'Takes the next due job under a lease: until the lease ends nobody else, agent or person, gets it. ' +
    'Answers `{job, claim_id}`; `job` is null when nothing is due, which is normal: claim again with `wait_seconds`. ' +
    'Keep `job.id` and `job.fencing_token`: every later call about the job wants both. `job.payload` is the task, ' +
    '`job.attempt` counts the tries, `job.note` is what a person wrote for you when it was sent back. ' +
    'Work on it; call `heartbeat` with your progress well before `job.lease_expires_at` (a third of `job.lease_seconds` is ' +
    'a good pace); then end it with exactly one of `complete`, `fail`, `release`, `snooze` or `ask_a_human`. ' +
    'Do not claim a further job before that.',
  scope: 'work',
  hints: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false,
  },
  input: z.strictObject({
    queues: z
      .array(queueName)
      .min(1)
      .max(MAX_CLAIM_QUEUES)
      .optional()
      .describe(
        `Take it from one of these queues, 1 to ${MAX_CLAIM_QUEUES}. May be left out when your token is for few queues.`,
      ),
    wait_seconds: integer(0, MAX_WAIT_SECONDS)
      .optional()
      .describe('When nothing is due, wait this long for something; default 0.'),
    lease_seconds: leaseSeconds,
    claim_id: claimId
      .optional()
      .describe(
        'A new UUID of yours. If the answer is lost, repeat the call with the same one: you get the same job, not another.',
      ),
  }),
  output: z.object({
    claim_id: uuidText,
    job: heldJob.nullable(),
    ...adviceField,
  }),
  request: ({ queues, wait_seconds, ...others }, caller) => ({
    method: 'POST',
    path: '/v1/claims',
    body: {
      ...others,
      limit: 1,
      wait: wait_seconds,
      queues: queues ?? queuesOf(caller),
    },
  }),
  answer: (body) => {
    const [job] = Array.isArray(body['jobs']) ? (body['jobs'] as readonly JsonObject[]) : [];
    const claimed = { claim_id: body['claim_id'] ?? null, job: job ?? null };
    if (job !== undefined && isJsonObject(job)) return claimed;
    return {
      ...claimed,
      advice: 'Nothing is due now. Claim again with wait_seconds, or do something else first.',
    };
  },
});

function queuesOf({ queues }: ToolCaller): readonly string[] {
  if (queues !== undefined && queues.size > 0 && queues.size <= MAX_CLAIM_QUEUES) {
    return [...queues];
  }
  throw invalidRequest([
    { path: 'queues', message: 'is required; list_queues names those that your token is for' },
  ]);
}
