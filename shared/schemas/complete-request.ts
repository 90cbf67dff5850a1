import { z } from 'zod';

import { MAX_RESULT_BYTES, MAX_RESULT_PROBLEM_CHARS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { claimFields } from './claim-request.ts';
import { fencingToken } from './fencing-token.ts';
import { jsonWithin } from './json-within.ts';
import { queueName } from './names.ts';
import { text } from './text.ts';

/** One job to be claimed in the same call. The queue is named, so that it need not be looked up. */
const claimNextRequest = z.strictObject(
  { queue: queueName, claim_id: claimFields.claim_id, lease_seconds: claimFields.lease_seconds },
  stating('must be an object with "queue"'),
);

/**
 * The work is done. `result_problem` says why a result is not there, when the holder could not send it; `claim_next` takes the
 * next job with the same round trip.
 */
export const completeRequest = z
  .strictObject(
    {
      fencing_token: fencingToken,
      result: jsonWithin(MAX_RESULT_BYTES).optional(),
      result_problem: text(1, MAX_RESULT_PROBLEM_CHARS).optional(),
      claim_next: claimNextRequest.optional(),
    },
    stating('must be an object with "fencing_token"'),
  )
  .refine((request) => request.result === undefined || request.result_problem === undefined, {
    path: ['result_problem'],
    message: 'cannot be given together with "result"',
  })
  .meta({ not: { required: ['result', 'result_problem'] } });

export type CompleteRequest = z.infer<typeof completeRequest>;
export type ClaimNextRequest = z.infer<typeof claimNextRequest>;
