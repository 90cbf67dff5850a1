import { z } from 'zod';

import { count, instantText, uuidText } from './response-parts.ts';
import { takenJobResponse } from './taken-job-response.ts';

/** A job and the lease on it. */
export const leasedJobResponse = takenJobResponse.extend({
  idempotency_key: z.string(),
  lease_seconds: count,
  run_deadline_at: instantText,
  run_remaining_ms: z.number(),
  more_due: z.boolean(),
});

/** What a claim took; no jobs when there was nothing, or not in time. */
export const claimResponse = z.object({ claim_id: uuidText, jobs: z.array(leasedJobResponse) });

export type LeasedJobResponse = z.infer<typeof leasedJobResponse>;
export type ClaimResponse = z.infer<typeof claimResponse>;
