import type { FieldProblem } from './errors.ts';
import type { AttemptError } from './queue/fail.ts';
import type { FailureClass } from './queue/failure-class.ts';
import { safeText } from './safe-text.ts';

export interface AttemptFailure {
  readonly error: AttemptError;
  readonly failureClass: FailureClass;
  /** What the other side asked for, in milliseconds from now. */
  readonly retryAfterMs?: number;
}

/** What an attempt came to, before the database has heard of it. */
export type Ending =
  | { readonly kind: 'returned'; readonly value: unknown }
  | ({ readonly kind: 'failed' } & AttemptFailure)
  | { readonly kind: 'snoozed'; readonly delayMs: number; readonly reason: string }
  /** A person is asked. */
  | { readonly kind: 'asked'; readonly question: string }
  /** The database said so: there is nothing left to report. */
  | { readonly kind: 'lease_lost' };

/** A failure of the runner's own naming. */
export function failed(code: string, message: string, failureClass: FailureClass): Ending {
  return { kind: 'failed', error: { code, message }, failureClass };
}

/** The faults of a payload as a failure that no retry can mend. */
export function invalidPayload(problems: readonly FieldProblem[]): Ending {
  const listed = problems.map(({ path, message }) => ({
    path: safeText(path, 200),
    message: safeText(message, 200),
  }));
  return {
    kind: 'failed',
    failureClass: 'permanent',
    error: {
      code: 'invalid_payload',
      message: 'The payload does not fit the schema of its handler.',
      problems: listed,
    },
  };
}
