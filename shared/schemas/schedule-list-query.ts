import { z } from 'zod';

import { pageLimit } from './page-limit.ts';
import { scheduleName } from './schedule-name.ts';

/** Query of `GET /v1/schedules`; the cursor is the last name of the page before. */
export const scheduleListQuery = z.strictObject({
  limit: pageLimit,
  cursor: scheduleName.optional(),
});
