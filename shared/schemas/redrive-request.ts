import { z } from 'zod';

import { stating } from '../parse-with.ts';
import { perSecond, settledIds, settlingReason } from './settling.ts';

/** Sends chosen dead jobs back. */
export const redriveRequest = z.strictObject(
  { job_ids: settledIds, reason: settlingReason, per_second: perSecond.optional() },
  stating('must be an object with "job_ids" and "reason"'),
);

export type RedriveRequest = z.infer<typeof redriveRequest>;
