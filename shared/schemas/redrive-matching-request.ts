import { z } from 'zod';

import { stating } from '../parse-with.ts';
import { COUNT_AND_REASON, matchingFields, requireCountAndReason } from './matching.ts';
import { perSecond } from './settling.ts';

/** Sends back the dead jobs that fit a filter, if they are as many as expected. */
export const redriveMatchingRequest = z
  .strictObject(
    { ...matchingFields, per_second: perSecond.optional() },
    stating('must be an object with "filter", "expected_count" and "reason"'),
  )
  .superRefine(requireCountAndReason)
  .meta(COUNT_AND_REASON);

export type RedriveMatchingRequest = z.infer<typeof redriveMatchingRequest>;
