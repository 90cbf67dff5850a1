import { z } from 'zod';

import { MAX_REASON_CHARS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { text } from './text.ts';

/** Stops or resumes a queue. */
export const pauseRequest = z.strictObject(
  { reason: text(1, MAX_REASON_CHARS).optional() },
  stating('must be an object; "reason" is optional'),
);

export type PauseRequest = z.infer<typeof pauseRequest>;
