import { z } from 'zod';

import { stating } from '../parse-with.ts';
import { queueName } from './names.ts';
import { pageLimit } from './page-limit.ts';

const CURSOR_RULE = 'must be the next_cursor of an earlier answer';
const CURSOR = /^[0-9]{1,17}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Query of `GET /v1/dead-letters`. */
export const listDeadLettersQuery = z.strictObject({
  queue: queueName.optional(),
  limit: pageLimit,
  cursor: z.string(stating(CURSOR_RULE)).regex(CURSOR, CURSOR_RULE).optional(),
});
