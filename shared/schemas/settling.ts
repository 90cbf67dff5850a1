import { z } from 'zod';

import { MAX_REASON_CHARS, MAX_REDRIVES_PER_SECOND, MAX_SETTLED_JOBS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { integer } from './integer.ts';
import { jobId } from './job-id.ts';
import { text } from './text.ts';

const IDS_RULE = `must be an array of 1 to ${MAX_SETTLED_JOBS} job ids`;

/** Fields that the ways to settle dead letters share. */
export const settledIds = z
  .array(jobId, stating(IDS_RULE))
  .min(1, IDS_RULE)
  .max(MAX_SETTLED_JOBS, IDS_RULE);
export const settlingReason = text(1, MAX_REASON_CHARS);
export const perSecond = integer(1, MAX_REDRIVES_PER_SECOND);
