import { z } from 'zod';

import { MAX_DELAY_SECONDS, MIN_SNOOZE_SECONDS, MAX_REASON_CHARS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { fencingToken } from './fencing-token.ts';
import { seconds } from './integer.ts';
import { text } from './text.ts';

/** Not now: the job waits, and no attempt is spent. */
export const snoozeRequest = z.strictObject(
  {
    fencing_token: fencingToken,
    delay_seconds: seconds(MIN_SNOOZE_SECONDS, MAX_DELAY_SECONDS),
    reason: text(1, MAX_REASON_CHARS).optional(),
  },
  stating('must be an object with "fencing_token" and "delay_seconds"'),
);

export type SnoozeRequest = z.infer<typeof snoozeRequest>;
