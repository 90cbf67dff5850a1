import { z } from 'zod';

import { MAX_KEY_CHARS } from '../limits.ts';
import { pageLimit } from './page-limit.ts';
import { keyText } from './text.ts';

/** Query of `GET /v1/queues/{queue}/blocked-keys`; the cursor is the last key of the page before. */
export const blockedKeysQuery = z.strictObject({
  limit: pageLimit,
  cursor: keyText(MAX_KEY_CHARS).optional(),
});
