import { z } from 'zod';

import {
  MAX_JOB_HEADERS,
  MAX_JOB_HEADER_NAME_CHARS,
  MAX_JOB_HEADER_VALUE_CHARS,
} from '../limits.ts';
import { stating } from '../parse-with.ts';

const RULE =
  `must be an object of at most ${MAX_JOB_HEADERS} strings: names of 1 to ${MAX_JOB_HEADER_NAME_CHARS} ` +
  `characters from a-z, 0-9, "-" and "_", values of at most ${MAX_JOB_HEADER_VALUE_CHARS} printable ASCII characters`;

const NAME = new RegExp(`^[a-z0-9][a-z0-9_-]{0,${MAX_JOB_HEADER_NAME_CHARS - 1}}$`);
const VALUE = new RegExp(`^[\\x20-\\x7e]{0,${MAX_JOB_HEADER_VALUE_CHARS}}$`);

/** Trace context and the like: what travels beside a payload, in a form that also fits HTTP headers. */
export const jobHeaders = z
  .custom<Readonly<Record<string, string>>>(isJobHeaders, stating(RULE))
  .meta({
    type: 'object',
    maxProperties: MAX_JOB_HEADERS,
    propertyNames: { pattern: NAME.source },
    additionalProperties: { type: 'string', pattern: VALUE.source },
    description: RULE,
  });

// Not z.record: it drops a key named __proto__ without a word; here the name rule refuses it.
function isJobHeaders(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries: [string, unknown][] = Object.entries(value);
  return (
    entries.length <= MAX_JOB_HEADERS &&
    entries.every(([name, text]) => NAME.test(name) && typeof text === 'string' && VALUE.test(text))
  );
}
