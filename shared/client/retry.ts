import { isTransientStatus } from '../http-status.ts';
import type { Random } from '../ports.ts';
import type { LeaseholdApiError } from './api-error.ts';

/** Tries of one call, the first included. */
export const MAX_TRIES = 5;
/** One try, beside the time that the service was asked to wait. */
export const TRY_TIMEOUT_MS = 30_000;
/** No try begins later than this after the call did. */
export const RETRY_BUDGET_MS = 60_000;

const PAUSE_BASE_MS = 200;
const PAUSE_CAP_MS = 5000;

/** Failures of the service that stay until someone repairs it. */
const LASTING = ['database_error', 'config_invalid', 'schema_mismatch'];

/**
 * Whether the same request may fare better: no answer, an answer that something on the way garbled, "later", or the first
 * request of the same key not being done yet.
 */
export function isWorthAnotherTry({ status, code }: LeaseholdApiError): boolean {
  if (code === 'no_answer' || code === 'idempotency_key_in_flight') return true;
  if (LASTING.includes(code)) return false;
  return isTransientStatus(status) || (code === 'unexpected_answer' && status === 200);
}

/**
 * Pause before the next try: full jitter, so that clients that failed together do not come back together, and never sooner than
 * the service asked for.
 *
 * @param tries so far, from 1
 */
export function pauseMs(
  { retryAfterSeconds }: Pick<LeaseholdApiError, 'retryAfterSeconds'>,
  tries: number,
  random: Random,
): number {
  const jitter = random.next() * Math.min(PAUSE_CAP_MS, PAUSE_BASE_MS * 2 ** tries);
  return (retryAfterSeconds ?? 0) * 1000 + jitter;
}
