import { z } from 'zod';

import { utcInstant } from '../instant.ts';
import { jsonTextBytes } from '../json-size.ts';
import type { JsonValue } from '../json-value.ts';
import {
  MAX_ATTEMPTS,
  MAX_DELAY_SECONDS,
  MAX_PAYLOAD_BYTES,
  MAX_SCHEMA_VERSION,
} from '../limits.ts';
import { stating } from '../parse-with.ts';
import { PRIORITIES } from '../queue/new-job.ts';
import { jobHeaders } from './job-headers.ts';
import { jobId } from './job-id.ts';
import { queueName, typeName } from './names.ts';

const PRIORITY_RULE = `must be one of ${PRIORITIES.map((name) => `"${name}"`).join(', ')}`;
const DELAY_RULE = `must be a number of seconds from 0 to ${MAX_DELAY_SECONDS}`;
const DUE_AT_RULE = 'must be an RFC 3339 date and time with a zone, such as "2030-01-31T12:00:00Z"';
const ATTEMPTS_RULE = `must be an integer from 1 to ${MAX_ATTEMPTS}`;
const SCHEMA_VERSION_RULE = `must be an integer from 1 to ${MAX_SCHEMA_VERSION}`;
const PAYLOAD_RULE = `must be at most ${MAX_PAYLOAD_BYTES} bytes as JSON text`;

/** Payloads pass through untouched: zod would drop a key named `__proto__` from anything it rebuilt. */
const payload = z
  .custom<JsonValue>((value) => value !== undefined, 'is required; it may be any JSON value')
  .refine((value) => jsonTextBytes(value) <= MAX_PAYLOAD_BYTES, PAYLOAD_RULE);

/** One job as a producer sends it. Unknown fields are refused: a misspelt `delay_second` must not run at once. */
export const enqueueRequest = z
  .strictObject(
    {
      id: jobId.optional(),
      queue: queueName,
      type: typeName,
      payload,
      priority: z.enum(PRIORITIES, stating(PRIORITY_RULE)).optional(),
      delay_seconds: z
        .number(stating(DELAY_RULE))
        .min(0, DELAY_RULE)
        .max(MAX_DELAY_SECONDS, DELAY_RULE)
        .optional(),
      due_at: z.iso
        .datetime({ offset: true, ...stating(DUE_AT_RULE) })
        .transform(utcInstant)
        .optional(),
      max_attempts: z
        .int(stating(ATTEMPTS_RULE))
        .min(1, ATTEMPTS_RULE)
        .max(MAX_ATTEMPTS, ATTEMPTS_RULE)
        .optional(),
      schema_version: z
        .int(stating(SCHEMA_VERSION_RULE))
        .min(1, SCHEMA_VERSION_RULE)
        .max(MAX_SCHEMA_VERSION, SCHEMA_VERSION_RULE)
        .optional(),
      headers: jobHeaders.optional(),
    },
    stating('must be an object with "queue", "type" and "payload"'),
  )
  .refine((job) => job.delay_seconds === undefined || job.due_at === undefined, {
    path: ['due_at'],
    message: 'cannot be given together with "delay_seconds"',
  });

export type EnqueueRequest = z.infer<typeof enqueueRequest>;
