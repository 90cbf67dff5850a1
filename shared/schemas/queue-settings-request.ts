import { z } from 'zod';

import {
  MAX_ATTEMPTS,
  MAX_DELAY_SECONDS,
  MAX_LEASE_SECONDS,
  MAX_RUN_SECONDS,
  MAX_WEIGHT,
  MIN_LEASE_SECONDS,
} from '../limits.ts';
import { stating } from '../parse-with.ts';
import { DELIVERIES } from '../queue/delivery.ts';
import { integer } from './integer.ts';
import { text } from './text.ts';

const MAX_BACKOFF_MS = 30 * 24 * 60 * 60 * 1000;
const MAX_LIMIT = 10_000;
const MIN_INTERVAL_MS = 100;
const MAX_INTERVAL_MS = 24 * 60 * 60 * 1000;
const MAX_KEY_CONCURRENCY = 100;
const MAX_RETENTION_DAYS = 3650;
const MAX_URL_CHARS = 2000;

const DELIVERY_RULE = `must be one of ${DELIVERIES.map((name) => `"${name}"`).join(', ')}`;
const ON_DEAD_RULE = 'must be "block" or "continue"';
const ON_EXHAUSTED_RULE = 'must be "dead" or "escalate"';

/** `PUT /v1/queues/{queue}`: what is left out stays as it is, and null takes a limit or the target away. */
export const queueSettingsRequest = z.strictObject(
  {
    lease_seconds: integer(MIN_LEASE_SECONDS, MAX_LEASE_SECONDS).optional(),
    max_run_seconds: integer(1, MAX_RUN_SECONDS).optional(),
    max_attempts: integer(1, MAX_ATTEMPTS).optional(),
    max_unknown_attempts: integer(1, MAX_ATTEMPTS).optional(),
    backoff_base_ms: integer(0, MAX_BACKOFF_MS).optional(),
    backoff_cap_ms: integer(0, MAX_BACKOFF_MS).optional(),
    retry_budget_seconds: integer(1, MAX_DELAY_SECONDS).optional(),
    weight: integer(1, MAX_WEIGHT).optional(),
    concurrency_limit: integer(1, MAX_LIMIT).nullable().optional(),
    rate_limit: integer(1, MAX_LIMIT).nullable().optional(),
    rate_interval_ms: integer(MIN_INTERVAL_MS, MAX_INTERVAL_MS).optional(),
    key_concurrency: integer(1, MAX_KEY_CONCURRENCY).optional(),
    key_rate_limit: integer(1, MAX_LIMIT).nullable().optional(),
    key_rate_interval_ms: integer(MIN_INTERVAL_MS, MAX_INTERVAL_MS).optional(),
    on_dead: z.enum(['block', 'continue'], stating(ON_DEAD_RULE)).optional(),
    on_exhausted: z.enum(['dead', 'escalate'], stating(ON_EXHAUSTED_RULE)).optional(),
    escalate_after: integer(1, MAX_ATTEMPTS).optional(),
    delivery: z.enum(DELIVERIES, stating(DELIVERY_RULE)).optional(),
    target_url: text(1, MAX_URL_CHARS).nullable().optional(),
    retention_days: integer(1, MAX_RETENTION_DAYS).optional(),
  },
  stating('must be an object of settings'),
);

export type QueueSettingsRequest = z.infer<typeof queueSettingsRequest>;
