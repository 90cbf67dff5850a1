import { describeError } from './describe-error.ts';
import type { Ending } from './ending.ts';
import { LeaseholdError } from './errors.ts';
import {
  AskPerson,
  ClassedError,
  Snooze,
  TransientError,
  millisecondsUntil,
} from './handler-errors.ts';
import { MAX_DELAY_SECONDS, MAX_RETRY_AFTER_SECONDS, MIN_SNOOZE_SECONDS } from './limits.ts';

/** Thrown into a handler whose lease the database says is lost, so that it goes no further. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * What an attempt came to whose handler threw. A failure that nobody classed is `unknown`: it may be a fault of the code,
 * so it gets few attempts and full diagnostics. Never throws, whatever was thrown.
 *
 * @param nowMs local milliseconds, to turn instants into delays
 * @example thrownEnding(new PermanentError('card_declined', 'no'), clock.now()) // failed, permanent
 */
export function thrownEnding(thrown: unknown, nowMs: number): Ending {
  if (isA(thrown, LeaseLost)) return { kind: 'lease_lost' };
  if (isA(thrown, Snooze)) {
    const delayMs = millisecondsUntil(thrown.after, nowMs);
    return {
      kind: 'snoozed',
      delayMs: Math.min(Math.max(delayMs, MIN_SNOOZE_SECONDS * 1000), MAX_DELAY_SECONDS * 1000),
      reason: thrown.reason,
    };
  }
  if (isA(thrown, AskPerson)) return { kind: 'asked', question: thrown.question };
  const error = describeError(thrown);
  if (isA(thrown, ClassedError)) {
    const after = isA(thrown, TransientError) ? thrown.retryAfter : undefined;
    return {
      kind: 'failed',
      error,
      failureClass: thrown.failureClass,
      ...(after === undefined ? {} : { retryAfterMs: boundedRetryAfter(after, nowMs) }),
    };
  }
  return {
    kind: 'failed',
    error,
    // Our own database was away, which says nothing about the handler.
    failureClass:
      isA(thrown, LeaseholdError) && thrown.code === 'database_unavailable'
        ? 'transient'
        : 'unknown',
  };
}

function boundedRetryAfter(after: number | Date, nowMs: number): number {
  return Math.min(millisecondsUntil(after, nowMs), MAX_RETRY_AFTER_SECONDS * 1000);
}

/** `instanceof` for what may be a proxy that throws. */
function isA<Kind>(thrown: unknown, kind: abstract new (...args: never[]) => Kind): thrown is Kind {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}
