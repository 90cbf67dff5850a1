import { z } from 'zod';

import { stating } from '../parse-with.ts';

/** Query of `GET /metrics`. */
export const metricsQuery = z.strictObject({
  fresh: z.literal('1', stating('must be 1')).optional(),
});
