import { z } from 'zod';

import { MAX_REASON_CHARS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { text } from './text.ts';

/** Calls a job off. */
export const cancelRequest = z.strictObject(
  { reason: text(1, MAX_REASON_CHARS).optional() },
  stating('must be an object; "reason" is optional'),
);

export type CancelRequest = z.infer<typeof cancelRequest>;
