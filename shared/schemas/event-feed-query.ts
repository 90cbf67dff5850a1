import { z } from 'zod';

import { stating } from '../parse-with.ts';
import { integerText } from './integer.ts';
import { pageLimit } from './page-limit.ts';

const CURSOR_RULE = 'must be the next_cursor of an earlier answer';

/** Query of `GET /v1/outbox/feed`. */
export const eventFeedQuery = z.strictObject({
  limit: pageLimit,
  cursor: z
    .string(stating(CURSOR_RULE))
    .regex(/^[0-9]{1,19}_[0-9]{1,18}$/, CURSOR_RULE)
    .optional(),
});

/** Query of `GET /v1/outbox/aggregates/{aggregate_type}/{aggregate_id}/events`. */
export const aggregateEventsQuery = z.strictObject({
  after_version: integerText(0, 999_999_999_999_999).default(0),
  limit: pageLimit,
});
