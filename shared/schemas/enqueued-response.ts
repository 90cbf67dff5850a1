import { z } from 'zod';

import { PRIORITIES } from '../queue/new-job.ts';
import { count, instantText, uuidText } from './response-parts.ts';

const storedFields = {
  id: uuidText,
  queue: z.string(),
  type: z.string(),
  priority: z.enum(PRIORITIES),
  max_attempts: count,
  due_at: instantText,
  created_at: instantText,
};

/** The stored job; `outcome` is there when a live job had the dedup key, and then this is that job. */
export const enqueuedResponse = z.object({
  ...storedFields,
  outcome: z.literal('duplicate').optional(),
});

/** The stored jobs in the order of the request. */
export const enqueuedBatchResponse = z.object({
  jobs: z.array(z.object({ ...storedFields, outcome: z.enum(['created', 'exists', 'duplicate']) })),
});

export type EnqueuedResponse = z.infer<typeof enqueuedResponse>;
export type EnqueuedBatchResponse = z.infer<typeof enqueuedBatchResponse>;
