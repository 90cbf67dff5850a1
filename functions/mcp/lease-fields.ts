import { z } from 'zod';

import { fencingToken } from '../../shared/schemas/fencing-token.ts';
import { jobId } from '../../shared/schemas/job-id.ts';
import type { ApiRequest } from './api-call.ts';

/** What names the lease in every call of its holder. */
export const leaseFields = {
  job_id: jobId.describe('`job.id` of the claim.'),
  fencing_token: fencingToken.describe('`job.fencing_token` of the claim, as text.'),
};

/** What `answerOf` may add to every answer. */
export const adviceField = {
  advice: z.string().optional().describe('What to do now.'),
};

/**
 * @param verb end of the path: `complete`
 * @param input the job, and what goes into the body
 */
export function leaseRequest(
  verb: string,
  { job_id, ...body }: { readonly job_id: string; readonly [field: string]: unknown },
): ApiRequest {
  return { method: 'POST', path: `/v1/leases/${job_id}/${verb}`, body };
}
