import { z } from 'zod';

import { PRIORITIES } from '../queue/new-job.ts';
import { anyJson, anyObject, bigIntText, count, instantText, uuidText } from './response-parts.ts';

/** A job that somebody has taken, a worker under a lease or a person under a hold. */
export const takenJobResponse = z.object({
  id: uuidText,
  queue: z.string(),
  type: z.string(),
  payload: anyJson,
  headers: anyObject,
  schema_version: count,
  priority: z.enum(PRIORITIES),
  ordering_key: z.string().nullable(),
  created_at: instantText,
  attempt: count,
  max_attempts: count,
  redrives: count,
  note: z.string().nullable(),
  fencing_token: bigIntText,
  lease_expires_at: instantText,
  lease_remaining_ms: z.number(),
});
