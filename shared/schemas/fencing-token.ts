import { z } from 'zod';

import { stating } from '../parse-with.ts';

const RULE = 'must be the fencing token of the claim: a whole number as a string, such as "7"';
const MAX_TOKEN = 2n ** 63n - 1n;

/** A 64-bit number crosses the API as text, since a double would round it. */
export const fencingToken = z
  .string(stating(RULE))
  .refine((value) => /^[1-9][0-9]{0,18}$/.test(value) && BigInt(value) <= MAX_TOKEN, RULE)
  .meta({ pattern: '^[1-9][0-9]{0,18}$', description: RULE });
