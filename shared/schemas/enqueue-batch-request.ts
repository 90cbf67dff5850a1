import { z } from 'zod';

import { MAX_BATCH_JOBS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { enqueueRequest } from './enqueue-request.ts';

const JOBS_RULE = `must be an array of 1 to ${MAX_BATCH_JOBS} jobs`;

/** Many jobs that are all stored or none. Problems are named `jobs[i].field`. */
export const enqueueBatchRequest = z.strictObject(
  {
    jobs: z
      .array(enqueueRequest, stating(JOBS_RULE))
      .min(1, JOBS_RULE)
      .max(MAX_BATCH_JOBS, JOBS_RULE)
      .superRefine(refuseRepeatedIds),
  },
  stating('must be an object with "jobs"'),
);

function refuseRepeatedIds(
  jobs: readonly { readonly id?: string | undefined }[],
  context: z.RefinementCtx,
): void {
  const firstAt = new Map<string, number>();
  for (const [at, job] of jobs.entries()) {
    if (job.id === undefined) continue;
    const first = firstAt.get(job.id);
    if (first === undefined) firstAt.set(job.id, at);
    else
      context.addIssue({
        code: 'custom',
        path: [at, 'id'],
        message: `repeats the id of jobs[${first}]`,
      });
  }
}
