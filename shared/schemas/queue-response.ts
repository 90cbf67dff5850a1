import { z } from 'zod';

import { DELIVERIES } from '../queue/delivery.ts';
import type { QueueDocument } from '../queue/queue-settings.ts';
import { count, instantText, nextCursor, openEnum, uuidText } from './response-parts.ts';

const queueFields = {
  name: z.string(),
  lease_seconds: count,
  max_run_seconds: count,
  max_attempts: count,
  max_unknown_attempts: count,
  backoff_base_ms: count,
  backoff_cap_ms: count,
  retry_budget_seconds: count,
  weight: count,
  concurrency_limit: count.nullable(),
  rate_limit: count.nullable(),
  rate_interval_ms: count,
  key_concurrency: count,
  key_rate_limit: count.nullable(),
  key_rate_interval_ms: count,
  on_dead: openEnum(['block', 'continue']),
  on_exhausted: openEnum(['dead', 'escalate']),
  escalate_after: count,
  delivery: openEnum(DELIVERIES),
  target_url: z.string().nullable(),
  retention_days: count,
  paused: z
    .object({ since: instantText, by: z.string(), reason: z.string().nullable() })
    .nullable(),
  push_resume_at: instantText.nullable(),
  created_at: instantText,
};

/** Settings and switches of one queue. */
export const queueResponse: z.ZodType<QueueDocument> = z.object(queueFields);

/** The queue after a switch, and whether it moved. */
export const switchedQueueResponse = z.object({ ...queueFields, changed: z.boolean() });

export const queuePageResponse = z.object({
  queues: z.array(queueResponse),
  next_cursor: nextCursor,
});

/** Ordering keys with jobs that wait, and what they wait for. */
export const blockedKeysResponse = z.object({
  keys: z.array(
    z.object({
      ordering_key: z.string(),
      waiting: count,
      blocked_by: uuidText.nullable(),
      blocked_by_state: openEnum(['dead', 'escalated', 'running', 'pending']).nullable(),
    }),
  ),
  next_cursor: nextCursor,
});

export type SwitchedQueueResponse = z.infer<typeof switchedQueueResponse>;
export type QueuePageResponse = z.infer<typeof queuePageResponse>;
export type BlockedKeysResponse = z.infer<typeof blockedKeysResponse>;
