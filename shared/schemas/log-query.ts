import { z } from 'zod';

import { MAX_OWNER_CHARS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { JOB_STATES } from '../queue/job.ts';
import { LOG_EVENT_TYPES, LOG_ORDERS } from '../queue/log-event.ts';
import { instant } from './instant.ts';
import { queueName } from './names.ts';
import { pageLimit } from './page-limit.ts';
import { keyText } from './text.ts';

const CURSOR_RULE = 'must be the cursor of an event';
const AFTER_RULE = 'must be the id of an event of this job';
const BEFORE_RULE = 'must be the next_before of an earlier answer';
const STATE_RULE = `must be one of ${JOB_STATES.map((name) => `"${name}"`).join(', ')}`;
const TYPE_RULE = 'must be a type of event';
const ORDER_RULE = 'must be "oldest" or "newest"';

/** A place in the log: of the last event that was read. */
export const logCursor = z
  .string(stating(CURSOR_RULE))
  .regex(/^[0-9]{1,19}_[jq][0-9]{1,18}$/, CURSOR_RULE);

/** Query of `GET /v1/events`. */
export const logQuery = z.strictObject({
  order: z.enum(LOG_ORDERS, stating(ORDER_RULE)).default('oldest'),
  cursor: logCursor.optional(),
  queue: queueName.optional(),
  actor: keyText(MAX_OWNER_CHARS).optional(),
  type: z.enum(LOG_EVENT_TYPES, stating(TYPE_RULE)).optional(),
  limit: pageLimit,
});

/** Query of `GET /v1/events/stream`. */
export const logStreamQuery = z.strictObject({
  cursor: logCursor.optional(),
  queue: queueName.optional(),
});

/** Query of `GET /v1/jobs/{id}/events`. */
export const jobHistoryQuery = z.strictObject({
  after: z
    .string(stating(AFTER_RULE))
    .regex(/^j[0-9]{1,18}$/, AFTER_RULE)
    .optional(),
  limit: pageLimit,
});

/** Query of `GET /v1/board`. */
export const boardAtQuery = z.strictObject({
  at: instant,
  queue: queueName.optional(),
  state: z.enum(JOB_STATES, stating(STATE_RULE)).optional(),
  before: z.uuid(stating(BEFORE_RULE)).optional(),
  limit: pageLimit,
});
