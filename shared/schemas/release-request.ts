import { z } from 'zod';

import { MAX_REASON_CHARS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { fencingToken } from './fencing-token.ts';
import { text } from './text.ts';

/** The job goes back at once, for anyone. */
export const releaseRequest = z.strictObject(
  { fencing_token: fencingToken, reason: text(1, MAX_REASON_CHARS).optional() },
  stating('must be an object with "fencing_token"'),
);

export type ReleaseRequest = z.infer<typeof releaseRequest>;
