import { z } from 'zod';

import { DELIVERIES } from '../queue/delivery.ts';
import type { Overview } from '../queue/overview.ts';
import { count, instantText, openEnum } from './response-parts.ts';

const cappedCount = z.object({ count, capped: z.boolean() });

/** How the queues fare, the one that waits longest first. */
export const overviewResponse: z.ZodType<Overview> = z.object({
  at: instantText,
  queues: z.array(
    z.object({
      name: z.string(),
      paused: z
        .object({ since: instantText, by: z.string(), reason: z.string().nullable() })
        .nullable(),
      delivery: openEnum(DELIVERIES),
      resting_until: instantText.nullable(),
      concurrency_limit: count.nullable(),
      due: cappedCount,
      delayed: cappedCount,
      parked: cappedCount,
      running: cappedCount,
      leases_close_to_expiry: cappedCount,
      expired: cappedCount,
      dead: cappedCount,
      escalated: cappedCount,
      oldest_due_at: instantText.nullable(),
      next_due_at: instantText.nullable(),
      oldest_expired_at: instantText.nullable(),
      oldest_dead_at: instantText.nullable(),
      oldest_escalated_at: instantText.nullable(),
      series: z.object({
        from: instantText,
        step_seconds: count,
        succeeded: z.array(count),
        failed: z.array(count),
      }),
    }),
  ),
  left_out: count,
});
