import { z } from 'zod';

import {
  anyJson,
  bigIntText,
  count,
  instantText,
  uuidText,
} from '../../shared/schemas/response-parts.ts';

/** Of a claimed job, what its holder works with; the answer has more. */
export const heldJob = z.object({
  id: uuidText,
  queue: z.string(),
  type: z.string(),
  payload: anyJson.describe('The task.'),
  fencing_token: bigIntText,
  attempt: count.describe('Counts the tries, from 1.'),
  max_attempts: count,
  note: z.string().nullable().optional().describe('What a person wrote for the next holder.'),
  idempotency_key: z.string().describe('The same on every try: give it to services that take one.'),
  lease_seconds: count,
  lease_expires_at: instantText,
  lease_remaining_ms: z.number(),
});
