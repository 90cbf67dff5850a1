import { z } from 'zod';

import { MAX_KEY_CHARS, MAX_TAG_CHARS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { JOB_STATES } from '../queue/job.ts';
import { instant } from './instant.ts';
import { queueName, typeName } from './names.ts';
import { pageLimit } from './page-limit.ts';
import { keyText } from './text.ts';

const STATE_RULE = `must be one of ${JOB_STATES.map((name) => `"${name}"`).join(', ')}`;
const CURSOR_RULE = 'must be the next_cursor of an earlier answer';

/** Query of `GET /v1/jobs`, as text: every value arrives as a string. */
export const listJobsQuery = z.strictObject({
  queue: queueName.optional(),
  state: z.enum(JOB_STATES, stating(STATE_RULE)).optional(),
  type: typeName.optional(),
  tag: keyText(MAX_TAG_CHARS).optional(),
  ordering_key: keyText(MAX_KEY_CHARS).optional(),
  dedup_key: keyText(MAX_KEY_CHARS).optional(),
  from: instant.optional(),
  until: instant.optional(),
  limit: pageLimit,
  cursor: z.uuid(stating(CURSOR_RULE)).optional(),
});

export type ListJobsQuery = z.infer<typeof listJobsQuery>;
