import { z } from 'zod';

import { stating } from '../parse-with.ts';
import { settledIds, settlingReason } from './settling.ts';

/** Gives chosen dead jobs up. */
export const discardRequest = z.strictObject(
  { job_ids: settledIds, reason: settlingReason },
  stating('must be an object with "job_ids" and "reason"'),
);

export type DiscardRequest = z.infer<typeof discardRequest>;
