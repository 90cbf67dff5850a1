import { z } from 'zod';

import { MAX_LEASE_SECONDS, MAX_PROGRESS_CHARS, MIN_LEASE_SECONDS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { fencingToken } from './fencing-token.ts';
import { integer } from './integer.ts';
import { text } from './text.ts';

/** Proof of progress: a step that grew, or a marker that moved. */
export const heartbeatRequest = z.strictObject(
  {
    fencing_token: fencingToken,
    step: integer(0, Number.MAX_SAFE_INTEGER),
    progress: text(0, MAX_PROGRESS_CHARS).optional(),
    lease_seconds: integer(MIN_LEASE_SECONDS, MAX_LEASE_SECONDS).optional(),
  },
  stating('must be an object with "fencing_token" and "step"'),
);

export type HeartbeatRequest = z.infer<typeof heartbeatRequest>;
