import {
  isRedirectStatus,
  isSuccessStatus,
  isTransientStatus,
  statusCode,
} from '../http-status.ts';
import { MAX_FAILED_RESPONSE_CHARS, MAX_RETRY_AFTER_SECONDS } from '../limits.ts';
import { parseRetryAfter } from '../retry-after.ts';
import { safeText } from '../safe-text.ts';
import type { PublishOutcome } from './publisher.ts';

/** Statuses that say something about the event itself, which the next try would not change. */
const REJECTIONS = new Set([400, 413, 415, 422]);
/** What stands before the receiver answers so when the receiver is away, or the receiver while it starts and stops. */
const AWAY = new Set([502, 503, 504]);

/**
 * What an answer makes of an event: 2xx is published; 400, 413, 415 and 422 reject it, for example for a schema version that
 * the receiver does not know; every other answer is tried again, since it speaks of the way there, of the credentials or of
 * the receiver's state. A redirect is not followed.
 *
 * @param text the beginning of the body
 * @param nowMs milliseconds since the Unix epoch
 */
export function judgeAnswer(
  answer: {
    readonly status: number;
    readonly headers: Pick<Headers, 'get'>;
    readonly text: string;
  },
  nowMs: number,
): PublishOutcome {
  const { status } = answer;
  if (isSuccessStatus(status)) return { outcome: 'published' };
  const said = safeText(answer.text.trim(), MAX_FAILED_RESPONSE_CHARS);
  const message = isRedirectStatus(status)
    ? 'The receiver answered with a redirect, which is not followed.'
    : `The receiver answered ${status}${said === '' ? '.' : `: ${said}`}`;
  const error = { code: statusCode(status), message };
  if (REJECTIONS.has(status)) return { outcome: 'rejected', error };
  const seconds = isTransientStatus(status)
    ? parseRetryAfter(answer.headers.get('retry-after'), nowMs)
    : undefined;
  return {
    outcome: 'failed',
    error,
    ...(AWAY.has(status) ? { away: true } : {}),
    ...(seconds === undefined
      ? {}
      : { retryAfterMs: Math.min(seconds, MAX_RETRY_AFTER_SECONDS, 86_400) * 1000 }),
  };
}
