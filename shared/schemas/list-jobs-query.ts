import { z } from 'zod';

import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { JOB_STATES } from '../queue/job.ts';
import { queueName } from './names.ts';

const STATE_RULE = `must be one of ${JOB_STATES.map((name) => `"${name}"`).join(', ')}`;
const LIMIT_RULE = `must be an integer from 1 to ${MAX_PAGE_SIZE}`;
const CURSOR_RULE = 'must be the next_cursor of an earlier answer';

/** Query of `GET /v1/jobs`, as text: every value arrives as a string. */
export const listJobsQuery = z.strictObject({
  queue: queueName.optional(),
  state: z.enum(JOB_STATES, stating(STATE_RULE)).optional(),
  limit: z
    .string()
    .regex(/^[0-9]{1,9}$/, LIMIT_RULE)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= MAX_PAGE_SIZE, LIMIT_RULE)
    .default(DEFAULT_PAGE_SIZE),
  cursor: z.uuid(stating(CURSOR_RULE)).optional(),
});
