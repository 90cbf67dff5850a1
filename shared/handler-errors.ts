import type { FailureClass } from './queue/failure-class.ts';

export interface HandlerErrorOptions {
  readonly cause?: unknown;
}

/**
 * What a handler throws to say more than "it failed": a code of its own, and whether another try can help. Thrown as one
 * of its two kinds; anything else that is thrown has the class `unknown` and a small budget of attempts.
 */
export abstract class ClassedError extends Error {
  /** snake_case, at most 64 characters; it is stored, counted and logged. */
  readonly code: string;
  abstract readonly failureClass: Exclude<FailureClass, 'unknown'>;

  constructor(code: string, message: string, options: HandlerErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = /^[a-z][a-z0-9_]{0,63}$/.test(code) ? code : 'handler_error';
  }
}

/**
 * No further attempt can help: the job is dead at once.
 *
 * @param code snake_case, at most 64 characters; it must not hold data
 * @param message for people; stored with the attempt, never logged
 * @example throw new PermanentError('card_declined', 'The bank said no.')
 */
export class PermanentError extends ClassedError {
  override readonly name = 'PermanentError';
  readonly failureClass = 'permanent';
}

/**
 * The fault will pass (a time-out, a 429, a 5xx): the job is tried again after the queue's backoff, with its full budget
 * of attempts.
 *
 * @example throw new TransientError('bank_unreachable', 'The bank did not answer.', { cause })
 */
export class TransientError extends ClassedError {
  override readonly name: 'TransientError' | 'RetryAfter' = 'TransientError';
  readonly failureClass = 'transient';
  /** Not before: seconds from now or an instant; undefined: the queue's backoff alone decides. */
  readonly retryAfter: number | Date | undefined = undefined;
}

/**
 * A fault that will pass, and the other side said when. Honoured up to the queue's longest backoff, and never sooner than
 * the backoff itself.
 *
 * @param after seconds from now, or an instant; the past means now
 * @throws {RangeError} when it is not a number of seconds or a valid date
 * @example throw new RetryAfter(120, 'The mail service is busy.')
 */
export class RetryAfter extends TransientError {
  override readonly name = 'RetryAfter';
  override readonly retryAfter: number | Date;

  constructor(
    after: number | Date,
    message = 'The other side asked for a later try.',
    options: HandlerErrorOptions & { readonly code?: string } = {},
  ) {
    super(options.code ?? 'retry_after', message, options);
    this.retryAfter = checked(after);
  }
}

/**
 * "Not now": the job waits and no attempt is spent. It is no failure; use it for closed shops and quotas, and give it a
 * delay that ends.
 *
 * @param after seconds from now, 1 s to 366 days, or an instant; what lies outside is moved to the nearer end
 * @param reason for people, up to 1,000 characters; stored with the event
 * @throws {RangeError} when it is not a number of seconds or a valid date
 * @example throw new Snooze(3600, 'The shop opens at nine.')
 */
export class Snooze extends Error {
  override readonly name = 'Snooze';
  readonly after: number | Date;
  readonly reason: string;

  constructor(after: number | Date, reason: string) {
    super(reason);
    this.after = checked(after);
    this.reason = reason;
  }
}

/**
 * What a handler must not or cannot decide by itself: the attempt ends, and the job waits for a person, who completes it, sends
 * it back with a note (`ctx.note` of the next attempt) or gives it up.
 *
 * @param question what the person is to decide or do, up to 4,000 characters; kept with the job and in its log
 * @example throw new AskPerson('The order has two addresses: which one counts?')
 */
export class AskPerson extends Error {
  override readonly name = 'AskPerson';
  readonly question: string;

  constructor(question: string) {
    super(question);
    this.question = question;
  }
}

/** Milliseconds from now until then, 0 or more. */
export function millisecondsUntil(after: number | Date, nowMs: number): number {
  return Math.max(0, Math.ceil(typeof after === 'number' ? after * 1000 : after.getTime() - nowMs));
}

function checked(after: number | Date): number | Date {
  if (!Number.isFinite(typeof after === 'number' ? after : after.getTime())) {
    throw new RangeError('Give a number of seconds or a valid date.');
  }
  return after;
}
