import { z } from 'zod';

import { stating } from '../parse-with.ts';
import { COUNT_AND_REASON, matchingFields, requireCountAndReason } from './matching.ts';

/** Gives up the dead jobs that fit a filter, if they are as many as expected. */
export const discardMatchingRequest = z
  .strictObject(
    matchingFields,
    stating('must be an object with "filter", "expected_count" and "reason"'),
  )
  .superRefine(requireCountAndReason)
  .meta(COUNT_AND_REASON);

export type DiscardMatchingRequest = z.infer<typeof discardMatchingRequest>;
