import { z } from 'zod';

import { jsonTextBytes } from '../json-size.ts';
import type { JsonValue } from '../json-value.ts';
import { isJsonObject } from '../json-value.ts';
import {
  MAX_ERROR_BYTES,
  MAX_ERROR_CODE_CHARS,
  MAX_ERROR_MESSAGE_CHARS,
  MAX_RETRY_AFTER_SECONDS,
} from '../limits.ts';
import { stating } from '../parse-with.ts';
import type { AttemptError } from '../queue/fail.ts';
import { FAILURE_CLASSES } from '../queue/failure-class.ts';
import { fencingToken } from './fencing-token.ts';
import { seconds } from './integer.ts';
import { text } from './text.ts';

const CLASS_RULE = `must be one of ${FAILURE_CLASSES.map((name) => `"${name}"`).join(', ')}`;
const ERROR_RULE =
  `must be an object with "code" (1 to ${MAX_ERROR_CODE_CHARS} characters) and "message" (1 to ` +
  `${MAX_ERROR_MESSAGE_CHARS} characters), at most ${MAX_ERROR_BYTES} bytes as JSON text`;

const errorCode = text(1, MAX_ERROR_CODE_CHARS);
const errorMessage = text(1, MAX_ERROR_MESSAGE_CHARS);

/** Passed through untouched, whatever further members it has. */
const attemptError = z
  .custom<AttemptError>(
    (value) => value !== undefined && isAttemptError(value as JsonValue),
    stating(ERROR_RULE),
  )
  .meta({
    type: 'object',
    properties: {
      code: { type: 'string', minLength: 1, maxLength: MAX_ERROR_CODE_CHARS },
      message: { type: 'string', minLength: 1, maxLength: MAX_ERROR_MESSAGE_CHARS },
    },
    required: ['code', 'message'],
    description: ERROR_RULE,
    'x-max-bytes': MAX_ERROR_BYTES,
  });

/** The attempt failed. Without a class nobody has looked at the cause, and a small budget of attempts counts. */
export const failRequest = z.strictObject(
  {
    fencing_token: fencingToken,
    error: attemptError,
    class: z.enum(FAILURE_CLASSES, stating(CLASS_RULE)).default('unknown'),
    retry_after_seconds: seconds(0, MAX_RETRY_AFTER_SECONDS).optional(),
  },
  stating('must be an object with "fencing_token" and "error"'),
);

export type FailRequest = z.infer<typeof failRequest>;

function isAttemptError(value: JsonValue): boolean {
  return (
    isJsonObject(value) &&
    errorCode.safeParse(value['code']).success &&
    errorMessage.safeParse(value['message']).success &&
    jsonTextBytes(value) <= MAX_ERROR_BYTES
  );
}
