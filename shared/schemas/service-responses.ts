import { z } from 'zod';

import { count, instantText, openEnum, uuidText } from './response-parts.ts';

/** The code runs. */
export const healthResponse = z.object({ status: z.literal('ok') });

/** Database and code fit; `last_tick_at` is when a scheduled pass last did all its work. */
export const readyResponse = z.object({
  status: z.literal('ready'),
  schema_version: count,
  code_schema_version: count,
  last_tick_at: instantText.nullable(),
});

/** What one poke came to; of several jobs, the last is told of. */
export const workResponse = z.object({
  outcome: openEnum([
    'no_handler',
    'no_publisher',
    'relayed',
    'push_not_configured',
    'empty',
    'no_time',
    'succeeded',
    'retrying',
    'dead',
    'escalated',
    'snoozed',
    'cancelled',
    'handed_over',
    'lease_lost',
    'unknown',
  ]),
  queue: z.string(),
  job_id: uuidText.optional(),
  type: z.string().optional(),
  attempt: count.optional(),
  more_due: z.boolean().optional(),
  jobs_run: count.optional(),
  jobs_buried: count.optional(),
  code: z.string().optional(),
  due_at: instantText.optional(),
  result_problem: z.string().optional(),
  published: count.optional(),
  failed: count.optional(),
  quarantined: count.optional(),
  ended: z.string().optional(),
});
