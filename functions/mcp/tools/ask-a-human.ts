import { z } from 'zod';

import { escalateRequest } from '../../../shared/schemas/escalation-requests.ts';
import { adviceField, leaseFields, leaseRequest } from '../lease-fields.ts';
import { tool } from '../tool.ts';

export const askAHuman = tool({
  name: 'ask_a_human',
  title: 'Ask a person',
  description:
    'Ends your attempt and hands the job to people, with your question. For what only a person can decide, allow or know: ' +
    'not for failures that may pass, those are `fail`. The job is no longer yours; a person completes it, discards it, or sends ' +
    'it back with a note, and whoever claims it then finds the answer in `job.note`. Do not wait for it: claim the next job. ' +
    'Answers `outcome: "escalated"`, or `cancelled` when the job had been called off. The outcome `lease_lost` means that the job was no ' +
    'longer yours.',
  scope: 'work',
  hints: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  input: z.strictObject({
    ...leaseFields,
    question: escalateRequest.shape.question.describe(
      'What you need to know, what you found out so far, and the choices you see: the person reads nothing else.',
    ),
  }),
  output: z.object({
    outcome: z.enum(['escalated', 'cancelled', 'lease_lost']),
    more_due: z.boolean().optional(),
    ...adviceField,
  }),
  request: (input) => leaseRequest('escalate', input),
});
