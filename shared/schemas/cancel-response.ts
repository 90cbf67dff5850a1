import { z } from 'zod';

import { uuidText } from './response-parts.ts';

/** `cancel_requested`: an attempt runs and hears of it at its next heartbeat. */
export const cancelResponse = z.object({
  id: uuidText,
  outcome: z.enum(['cancelled', 'cancel_requested']),
});
