import { z } from 'zod';

import { MAX_RESULT_BYTES, MAX_RESULT_PROBLEM_CHARS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { fencingToken } from './fencing-token.ts';
import { jsonWithin } from './json-within.ts';
import { text } from './text.ts';

/** The work is done. `result_problem` says why a result is not there, when the holder could not send it. */
export const completeRequest = z
  .strictObject(
    {
      fencing_token: fencingToken,
      result: jsonWithin(MAX_RESULT_BYTES).optional(),
      result_problem: text(1, MAX_RESULT_PROBLEM_CHARS).optional(),
    },
    stating('must be an object with "fencing_token"'),
  )
  .refine((request) => request.result === undefined || request.result_problem === undefined, {
    path: ['result_problem'],
    message: 'cannot be given together with "result"',
  })
  .meta({ not: { required: ['result', 'result_problem'] } });

export type CompleteRequest = z.infer<typeof completeRequest>;
