import { z } from 'zod';

import { MAX_PAYLOAD_BYTES, MAX_SCHEMA_VERSION } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { aggregateId, aggregateType } from './aggregate.ts';
import { instant } from './instant.ts';
import { integer } from './integer.ts';
import { jobHeaders } from './job-headers.ts';
import { jobId } from './job-id.ts';
import { jsonWithin } from './json-within.ts';
import { typeName } from './names.ts';

/** One event for the outbox. Without a `payload` it has no body, which is not the same as a body that is null. */
export const appendEventRequest = z.strictObject(
  {
    id: jobId.optional(),
    aggregate_type: aggregateType,
    aggregate_id: aggregateId,
    type: typeName,
    payload: jsonWithin(MAX_PAYLOAD_BYTES).optional(),
    version: integer(1, Number.MAX_SAFE_INTEGER).optional(),
    schema_version: integer(1, MAX_SCHEMA_VERSION).optional(),
    headers: jobHeaders.optional(),
    occurred_at: instant.optional(),
  },
  stating('must be an object with "aggregate_type", "aggregate_id" and "type"'),
);

export type AppendEventRequest = z.infer<typeof appendEventRequest>;
