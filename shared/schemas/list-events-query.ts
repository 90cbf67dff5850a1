import { z } from 'zod';

import { OUTBOX_STATES } from '../outbox/outbox-event.ts';
import { stating } from '../parse-with.ts';
import { aggregateId, aggregateType } from './aggregate.ts';
import { pageLimit } from './page-limit.ts';

const STATE_RULE = `must be one of ${OUTBOX_STATES.map((name) => `"${name}"`).join(', ')}`;
const TOGETHER_RULE = 'goes together with "aggregate_type" and "aggregate_id" alone';
const CURSOR_RULE = 'must be the next_cursor of an earlier answer';
const CURSOR = /^[0-9]{1,19}(_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/;

/** Query of `GET /v1/outbox/events`. */
export const listEventsQuery = z
  .strictObject({
    state: z.enum(OUTBOX_STATES, stating(STATE_RULE)).optional(),
    aggregate_type: aggregateType.optional(),
    aggregate_id: aggregateId.optional(),
    limit: pageLimit,
    cursor: z.string(stating(CURSOR_RULE)).regex(CURSOR, CURSOR_RULE).optional(),
  })
  .refine((query) => (query.aggregate_type === undefined) === (query.aggregate_id === undefined), {
    path: ['aggregate_id'],
    message: TOGETHER_RULE,
  });
