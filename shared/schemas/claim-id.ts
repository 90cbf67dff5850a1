import { z } from 'zod';

import { stating } from '../parse-with.ts';

const RULE = 'must be a UUID of your own, new for each claim';

/** Names one claim, so that it can be repeated after a lost answer. */
export const claimId = z.guid(stating(RULE)).transform((id) => id.toLowerCase());
