import { z } from 'zod';

import { enqueueRequest } from '../../../shared/schemas/enqueue-request.ts';
import { enqueuedResponse } from '../../../shared/schemas/enqueued-response.ts';
import { tool } from '../tool.ts';

const { queue, type, payload, priority, delay_seconds, due_at, dedup_key, ordering_key, tags } =
  enqueueRequest.shape;

export const enqueue = tool({
  name: 'enqueue',
  title: 'Add a job',
  description:
    'Adds a job to a queue, for whoever claims it: an agent, a person, or code. Answers the stored job with its `id`. ' +
    'With a `dedup_key` that a live job has already, nothing is added: the answer has `outcome: "duplicate"` and is that job. ' +
    'Give an `idempotency_key` when you may have to repeat the call: with the same one it adds no second job.',
  scope: 'enqueue',
  hints: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false,
  },
  input: z.strictObject({
    queue: queue.describe('Name of the queue; list_queues has them.'),
    type: type.describe('What kind of job it is, such as `page.translate`.'),
    payload: payload.describe(
      'The task itself, any JSON: all that its holder needs to know. Refer to large data instead of including it.',
    ),
    priority: priority.optional().describe('Default normal. A preference, not an order.'),
    delay_seconds: delay_seconds.describe('Not before this many seconds from now.'),
    due_at: due_at.describe('Not before this instant; not together with `delay_seconds`.'),
    dedup_key: dedup_key.describe('At most one live job has it.'),
    ordering_key: ordering_key.describe('Jobs of one key run one after another.'),
    tags: tags.describe('To find the job by.'),
    idempotency_key: z
      .string()
      .regex(/^[A-Za-z0-9._:/-]{1,200}$/)
      .optional()
      .describe('A text of yours, new for each job that you add.'),
  }),
  output: enqueuedResponse,
  request: ({ idempotency_key: idempotencyKey, ...body }) => ({
    method: 'POST',
    path: '/v1/jobs',
    body,
    idempotencyKey,
  }),
});
