import type { Ending } from '../ending.ts';
import {
  isRedirectStatus,
  isSuccessStatus,
  isTransientStatus,
  statusCode,
} from '../http-status.ts';
import { parseJsonString } from '../json-text.ts';
import type { JsonValue } from '../json-value.ts';
import {
  MAX_FAILED_RESPONSE_CHARS,
  MAX_PUSH_RESPONSE_BYTES,
  MAX_RETRY_AFTER_SECONDS,
} from '../limits.ts';
import { isJsonMediaType } from '../media-type.ts';
import type { BodyStart } from '../read-start.ts';
import { parseRetryAfter } from '../retry-after.ts';
import { safeText } from '../safe-text.ts';

/** What a receiver answered, as far as it is kept. */
export interface PushAnswer {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  /** Undefined when it could not be read. */
  readonly body: BodyStart | undefined;
}

/** What the answer makes of the attempt; `handed_over`: the receiver keeps the lease and will report by itself. */
export type PushVerdict = Ending | { readonly kind: 'handed_over' };

/**
 * Judges an answer: 2xx is success, 202 with `Leasehold-Async: 1` takes the lease over; 408, 425, 429 and 5xx are tried
 * again, `Retry-After` honoured; a redirect is not followed and tried again, as it is the queue's target that is wrong
 * and not the job; every other answer is final.
 *
 * @param nowMs milliseconds since the Unix epoch
 */
export function judgePush(answer: PushAnswer, nowMs: number): PushVerdict {
  const { status, headers } = answer;
  if (status === 202 && headers.get('leasehold-async')?.trim() === '1') {
    return { kind: 'handed_over' };
  }
  if (isSuccessStatus(status)) return { kind: 'returned', value: summaryOf(answer) };
  const again = isRedirectStatus(status) || isTransientStatus(status);
  const seconds = again ? parseRetryAfter(headers.get('retry-after'), nowMs) : undefined;
  return {
    kind: 'failed',
    error: {
      code: statusCode(status),
      message: isRedirectStatus(status)
        ? 'The target answered with a redirect, which is not followed.'
        : `The target answered ${status}.`,
      ...responseText(answer),
    },
    failureClass: again ? 'transient' : 'permanent',
    ...(seconds === undefined
      ? {}
      : { retryAfterMs: Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000 }),
  };
}

/** The result of a job that was pushed: JSON where the answer was JSON, else text. */
function summaryOf({ status, headers, body }: PushAnswer): JsonValue {
  if (body === undefined || body.text === '') return { status };
  if (!body.whole) return { status, body: safeText(body.text, MAX_PUSH_RESPONSE_BYTES), cut: true };
  const parsed = isJsonMediaType(headers.get('content-type') ?? undefined)
    ? parseJsonString(body.text)
    : undefined;
  return {
    status,
    body: parsed?.ok === true ? parsed.value : safeText(body.text, MAX_PUSH_RESPONSE_BYTES),
  };
}

function responseText({ body }: PushAnswer): { response?: string } {
  const text = safeText(body?.text ?? '', MAX_FAILED_RESPONSE_CHARS);
  return text === '' ? {} : { response: text };
}
