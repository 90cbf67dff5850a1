import { z } from 'zod';

import {
  MAX_ERROR_CODE_CHARS,
  MAX_ERROR_MESSAGE_CHARS,
  MAX_PROGRESS_CHARS,
  MAX_REASON_CHARS,
  MAX_RESULT_BYTES,
} from '../../../shared/limits.ts';
import { FAILURE_CLASSES } from '../../../shared/queue/failure-class.ts';

import { failRequest } from '../../../shared/schemas/fail-request.ts';
import { heartbeatRequest } from '../../../shared/schemas/heartbeat-request.ts';
import { jsonWithin } from '../../../shared/schemas/json-within.ts';
import { queueName } from '../../../shared/schemas/names.ts';
import { instantText } from '../../../shared/schemas/response-parts.ts';
import { snoozeRequest } from '../../../shared/schemas/snooze-request.ts';
import { text } from '../../../shared/schemas/text.ts';
import { heldJob } from '../held-job.ts';
import { adviceField, leaseFields, leaseRequest } from '../lease-fields.ts';
import { tool } from '../tool.ts';
import { leaseSeconds } from './claim.ts';

const LOST =
  'The outcome `lease_lost` means that the job is no longer yours: stop and report nothing more about it.';
const REPEATABLE = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

export const heartbeat = tool({
  name: 'heartbeat',
  title: 'Report progress and keep the lease',
  description:
    'Renews the lease of the job that you hold, and shows people how far you are. Call it whenever you have got further, ' +
    'and well before the lease runs out. The lease is renewed only when `progress` differs from last time or `step` grew: ' +
    'a holder that makes no progress loses the job to another. Answers `outcome: "held"` with the new `lease_expires_at`. ' +
    `With \`cancel_requested\` the job was called off: stop now and \`release\` it. ${LOST}`,
  scope: 'work',
  hints: { ...REPEATABLE, idempotentHint: false },
  input: z.strictObject({
    ...leaseFields,
    progress: text(1, MAX_PROGRESS_CHARS).describe(
      'What is done so far, in a few words for people: `3 of 7 pages translated`.',
    ),
    step: heartbeatRequest.shape.step
      .default(0)
      .describe(
        'A number that grows with each call; needed only where `progress` may stay the same.',
      ),
    lease_seconds: leaseSeconds,
  }),
  output: z.object({
    outcome: z.enum(['held', 'lease_lost']),
    lease_expires_at: instantText.optional(),
    lease_remaining_ms: z.number().optional(),
    cancel_requested: z.boolean().optional(),
    ...adviceField,
  }),
  request: (input) => leaseRequest('heartbeat', input),
  answer: (body) =>
    body['cancel_requested'] === true
      ? { ...body, advice: 'The job was called off. Stop working on it and release it now.' }
      : body,
});

export const complete = tool({
  name: 'complete',
  title: 'Report success',
  description:
    'Ends the job as done and keeps `result` with it. Only when the work really is done: a job that you could not do is ' +
    '`fail` or `ask_a_human`. Safe to repeat after a lost answer. With `claim_next` the next job of a queue comes with the ' +
    'answer as `next` (null when none is due), under a lease as from `claim`. ' +
    `The outcome \`cancelled\` means that it had been called off meanwhile; nothing is left to do. ${LOST}`,
  scope: 'work',
  hints: REPEATABLE,
  input: z.strictObject({
    ...leaseFields,
    result: jsonWithin(MAX_RESULT_BYTES)
      .optional()
      .describe(`What came of it, for whoever asked: any JSON, at most ${MAX_RESULT_BYTES} bytes.`),
    claim_next: z
      .strictObject({ queue: queueName, lease_seconds: leaseSeconds })
      .optional()
      .describe('Take the next job of this queue with the same call.'),
  }),
  output: z.object({
    outcome: z.enum(['succeeded', 'cancelled', 'lease_lost']),
    more_due: z.boolean().optional().describe('A hint that the queue has further due work.'),
    next: heldJob.nullable().optional(),
    ...adviceField,
  }),
  request: (input) => leaseRequest('complete', input),
});

export const fail = tool({
  name: 'fail',
  title: 'Report failure',
  description:
    'Ends your attempt as failed. The job is tried again later, perhaps by you, until its tries are used up; then it goes to ' +
    'people. Say exactly what went wrong in `message`: the next holder and people read it. Answers `outcome`: `pending` (it ' +
    'will be tried again at `due_at`), `escalated` (people have it now), `dead` (nobody tries it again), or `cancelled`. ' +
    `Use \`ask_a_human\` when only a person can help, and \`release\` when you merely do not want the job. ${LOST}`,
  scope: 'work',
  hints: REPEATABLE,
  input: z.strictObject({
    ...leaseFields,
    code: text(1, MAX_ERROR_CODE_CHARS).describe(
      'Short name of the kind of failure, such as `page_not_found`.',
    ),
    message: text(1, MAX_ERROR_MESSAGE_CHARS).describe(
      'What you tried, what happened, what would help. No secrets.',
    ),
    class: z
      .enum(FAILURE_CLASSES)
      .default('unknown')
      .describe(
        '`transient`: it may work later (a time-out, an overload). `permanent`: no further try can help. `unknown`: you cannot tell.',
      ),
    retry_after_seconds: failRequest.shape.retry_after_seconds.describe(
      'Not before so many seconds, where another service said so.',
    ),
  }),
  output: z.object({
    outcome: z.enum(['pending', 'escalated', 'dead', 'cancelled', 'lease_lost']),
    due_at: instantText.optional(),
    more_due: z.boolean().optional(),
    ...adviceField,
  }),
  request: ({ code, message, ...others }) =>
    leaseRequest('fail', { ...others, error: { code, message } }),
  answer: ({ escalated, ...end }) =>
    escalated === true
      ? { ...end, outcome: 'escalated', advice: 'People have the job now. Claim the next one.' }
      : end,
});

export const release = tool({
  name: 'release',
  title: 'Give the job back',
  description:
    'Gives the job back at once, for anyone, and spends no try. For a job that is not for you, or when you have to stop. ' +
    `Not for failures: those are \`fail\`. ${LOST}`,
  scope: 'work',
  hints: REPEATABLE,
  input: z.strictObject({
    ...leaseFields,
    reason: text(1, MAX_REASON_CHARS).optional().describe('Why, for people.'),
  }),
  output: givenBack(),
  request: (input) => leaseRequest('release', input),
});

export const snooze = tool({
  name: 'snooze',
  title: 'Not now',
  description:
    'Gives the job back for later and spends no try: it is due again after `delay_seconds`, for anyone. For a job that has to ' +
    `wait for something else. ${LOST}`,
  scope: 'work',
  hints: REPEATABLE,
  input: z.strictObject({
    ...leaseFields,
    delay_seconds: snoozeRequest.shape.delay_seconds.describe('Not before so many seconds.'),
    reason: text(1, MAX_REASON_CHARS).optional().describe('What it waits for, for people.'),
  }),
  output: givenBack(),
  request: (input) => leaseRequest('snooze', input),
});

export const LEASE_TOOLS = [heartbeat, complete, fail, release, snooze];

function givenBack(): z.ZodType {
  return z.object({
    outcome: z.enum(['pending', 'cancelled', 'lease_lost']),
    due_at: instantText.optional(),
    ...adviceField,
  });
}
