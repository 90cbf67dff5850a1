import { pause } from './bounded-wait.ts';
import { LeaseholdError } from './errors.ts';
import { REPORT_RETRY_MS } from './limits.ts';
import type { Clock, Log, Timer } from './ports.ts';
import type { CompleteOutcome } from './queue/complete.ts';
import type { AttemptFailure } from './ending.ts';
import type { EscalateOutcome } from './queue/escalate.ts';
import type { FailOutcome } from './queue/fail.ts';
import type { GiveBackOutcome } from './queue/given-back.ts';
import type { Lease } from './queue/lease.ts';
import { isRefusal } from './refusal.ts';
import type { RunOperations } from './run-operations.ts';
import type { StorableResult } from './storable-result.ts';

export interface ReportInput {
  readonly operations: Pick<RunOperations, 'complete' | 'fail' | 'snooze' | 'escalate'>;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly log: Log;
  readonly lease: Lease;
  /** Local milliseconds until which an unanswered report is worth repeating. */
  readonly until: number;
}

/** No answer came: the database may or may not have taken the report; the lease decides what happens next. */
export type Unanswered = { readonly outcome: 'unknown' };

/**
 * Reports success. The effect has happened, so everything is tried before the job is left to run again: a report that
 * got no answer is repeated while the lease lasts, and one that the database refuses is sent without its result.
 */
export async function reportSuccess(
  input: ReportInput,
  result: StorableResult,
): Promise<CompleteOutcome | Unanswered> {
  try {
    return await repeated(input, () => input.operations.complete({ ...input.lease, ...result }));
  } catch (error) {
    if (result.result === undefined) throw error;
    input.log.warn('result_refused', { code: codeOf(error) });
    const resultProblem = 'The database refused the result.';
    return await repeated(input, () =>
      input.operations.complete({ ...input.lease, resultProblem }),
    );
  }
}

/** Reports failure, repeated while the lease lasts. */
export async function reportFailure(
  input: ReportInput,
  { error, failureClass, retryAfterMs }: AttemptFailure,
): Promise<FailOutcome | Unanswered> {
  return await repeated(input, () =>
    input.operations.fail({
      ...input.lease,
      error,
      failureClass,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }),
  );
}

/** Gives the job back until later, repeated while the lease lasts. */
export async function reportSnooze(
  input: ReportInput,
  { delayMs, reason }: { readonly delayMs: number; readonly reason: string },
): Promise<GiveBackOutcome | Unanswered> {
  return await repeated(input, () => input.operations.snooze({ ...input.lease, delayMs, reason }));
}

/** Asks a person, repeated while the lease lasts. */
export async function reportQuestion(
  input: ReportInput,
  question: string,
): Promise<EscalateOutcome | Unanswered> {
  return await repeated(input, () => input.operations.escalate({ ...input.lease, question }));
}

/** Repeats on unknown outcomes; definite refusals are thrown. */
async function repeated<Outcome>(
  input: ReportInput,
  call: () => Promise<Outcome>,
): Promise<Outcome | Unanswered> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (isRefusal(error)) throw error;
      const again = input.clock.now() + REPORT_RETRY_MS < input.until;
      input.log.warn('report_unanswered', { code: codeOf(error), again });
      if (!again || !(await pause(input.timer, REPORT_RETRY_MS))) return { outcome: 'unknown' };
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof LeaseholdError ? error.code : 'internal_error';
}
