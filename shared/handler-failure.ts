/** How a handler says more than "it failed": with a code of its own, and whether trying again makes sense. */
export interface HandlerFailureOptions {
  /** False: the job is dead at once, because another try cannot help. Default true. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/**
 * Thrown by a handler to name its failure. Anything else that is thrown counts as retryable `handler_error`.
 *
 * @param code snake_case, at most 64 characters; it is stored, counted and logged, so it must not hold data
 * @param message for people; stored with the attempt, never logged
 * @example throw new HandlerFailure('card_declined', 'The bank said no.', { retryable: false })
 */
export class HandlerFailure extends Error {
  override readonly name = 'HandlerFailure';
  readonly code: string;
  readonly retryable: boolean;

  constructor(code: string, message: string, options: HandlerFailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = /^[a-z][a-z0-9_]{0,63}$/.test(code) ? code : 'handler_error';
    this.retryable = options.retryable ?? true;
  }
}
