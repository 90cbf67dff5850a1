import { z } from 'zod';

import { queueName } from './names.ts';
import { pageLimit } from './page-limit.ts';

/** Query of `GET /v1/queues`; the cursor is the last name of the page before. */
export const listQueuesQuery = z.strictObject({ limit: pageLimit, cursor: queueName.optional() });
