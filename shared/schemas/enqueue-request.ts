import { z } from 'zod';

import {
  MAX_ATTEMPTS,
  MAX_DELAY_SECONDS,
  MAX_KEY_CHARS,
  MAX_PAYLOAD_BYTES,
  MAX_SCHEMA_VERSION,
  MAX_TAGS,
  MAX_TAG_CHARS,
} from '../limits.ts';
import { stating } from '../parse-with.ts';
import { instant } from './instant.ts';
import { integer, seconds } from './integer.ts';
import { jobHeaders } from './job-headers.ts';
import { jobId } from './job-id.ts';
import { jsonWithin } from './json-within.ts';
import { queueName, typeName } from './names.ts';
import { priority } from './priority.ts';
import { keyText } from './text.ts';

const ON_DUPLICATE_RULE = 'must be "return" or "replace"';
const TAGS_RULE = `must be an array of at most ${MAX_TAGS} tags`;

/** One job as a producer sends it. Unknown fields are refused: a misspelt `delay_second` must not run at once. */
export const enqueueRequest = z
  .strictObject(
    {
      id: jobId.optional(),
      queue: queueName,
      type: typeName,
      payload: jsonWithin(MAX_PAYLOAD_BYTES),
      priority: priority.optional(),
      delay_seconds: seconds(0, MAX_DELAY_SECONDS).optional(),
      due_at: instant.optional(),
      max_attempts: integer(1, MAX_ATTEMPTS).optional(),
      max_unknown_attempts: integer(1, MAX_ATTEMPTS).optional(),
      escalate_after: integer(1, MAX_ATTEMPTS).optional(),
      retry_budget_seconds: integer(1, MAX_DELAY_SECONDS).optional(),
      schema_version: integer(1, MAX_SCHEMA_VERSION).optional(),
      ordering_key: keyText(MAX_KEY_CHARS).optional(),
      dedup_key: keyText(MAX_KEY_CHARS).optional(),
      on_duplicate: z.enum(['return', 'replace'], stating(ON_DUPLICATE_RULE)).optional(),
      tags: z.array(keyText(MAX_TAG_CHARS), stating(TAGS_RULE)).max(MAX_TAGS, TAGS_RULE).optional(),
      headers: jobHeaders.optional(),
    },
    stating('must be an object with "queue", "type" and "payload"'),
  )
  .refine((job) => job.delay_seconds === undefined || job.due_at === undefined, {
    path: ['due_at'],
    message: 'cannot be given together with "delay_seconds"',
  })
  .refine((job) => job.on_duplicate === undefined || job.dedup_key !== undefined, {
    path: ['on_duplicate'],
    message: 'goes with a "dedup_key" alone',
  })
  .meta({
    not: { required: ['delay_seconds', 'due_at'] },
    dependentRequired: { on_duplicate: ['dedup_key'] },
  });

export type EnqueueRequest = z.infer<typeof enqueueRequest>;
