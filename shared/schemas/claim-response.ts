import { z } from 'zod';

import { PRIORITIES } from '../queue/new-job.ts';
import { anyJson, anyObject, bigIntText, count, instantText, uuidText } from './response-parts.ts';

/** A job and the lease on it. */
export const leasedJobResponse = z.object({
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
  idempotency_key: z.string(),
  fencing_token: bigIntText,
  lease_seconds: count,
  lease_expires_at: instantText,
  lease_remaining_ms: z.number(),
  run_deadline_at: instantText,
  run_remaining_ms: z.number(),
  more_due: z.boolean(),
});

/** What a claim took; no jobs when there was nothing, or not in time. */
export const claimResponse = z.object({ claim_id: uuidText, jobs: z.array(leasedJobResponse) });

export type LeasedJobResponse = z.infer<typeof leasedJobResponse>;
export type ClaimResponse = z.infer<typeof claimResponse>;
