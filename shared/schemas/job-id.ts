import { z } from 'zod';

import { stating } from '../parse-with.ts';

const RULE = 'must be a UUID of version 7 (RFC 9562), such as 0193a1b2-c3d4-7e5f-8a6b-0123456789ab';

/** Lower case is the one form in which an id is stored and compared. */
export const jobId = z.uuidv7(stating(RULE)).transform((id) => id.toLowerCase());
