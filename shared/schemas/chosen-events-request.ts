import { z } from 'zod';

import { MAX_CHOSEN_EVENTS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { jobId } from './job-id.ts';
import { settlingReason } from './settling.ts';

const IDS_RULE = `must be an array of 1 to ${MAX_CHOSEN_EVENTS} event ids`;

/** A person's decision on quarantined events. */
export const chosenEventsRequest = z.strictObject(
  {
    event_ids: z.array(jobId, stating(IDS_RULE)).min(1, IDS_RULE).max(MAX_CHOSEN_EVENTS, IDS_RULE),
    reason: settlingReason,
  },
  stating('must be an object with "event_ids" and "reason"'),
);
