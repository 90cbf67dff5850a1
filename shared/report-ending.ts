import type { DescribedError } from './describe-error.ts';
import type { FieldProblem } from './errors.ts';
import { reportFailure, reportSuccess } from './report-outcome.ts';
import type { ReportInput } from './report-outcome.ts';
import { safeText } from './safe-text.ts';
import { toStorableResult } from './storable-result.ts';

/** What an attempt came to, before the database has heard of it. */
export type Ending =
  | { readonly kind: 'returned'; readonly value: unknown }
  | ({ readonly kind: 'failed' } & DescribedError)
  /** A heartbeat was answered so: there is nothing left to report. */
  | { readonly kind: 'lease_lost' };

/** How the attempt ended, as far as this side knows. */
export type RunOutcome =
  | { readonly outcome: 'succeeded'; readonly moreDue: boolean; readonly resultProblem?: string }
  /** It had been called off before the report came. */
  | { readonly outcome: 'cancelled'; readonly moreDue: boolean }
  | {
      readonly outcome: 'retrying';
      readonly code: string;
      readonly dueAt: Date;
      readonly moreDue: boolean;
    }
  | { readonly outcome: 'dead'; readonly code: string; readonly moreDue: boolean }
  | { readonly outcome: 'lease_lost' }
  /** No answer to the report, or it was refused: the lease will expire and decide. */
  | { readonly outcome: 'unknown' };

/**
 * Tells the database how an attempt ended, and the log what came of it.
 *
 * @throws {LeaseholdError} when the database refuses the report for good
 */
export async function reportEnding(input: ReportInput, ending: Ending): Promise<RunOutcome> {
  switch (ending.kind) {
    case 'lease_lost':
      input.log.warn('job_lease_lost');
      return { outcome: 'lease_lost' };
    case 'returned':
      return await reportReturned(input, ending.value);
    case 'failed':
      return await reportFailed(input, ending);
  }
}

async function reportReturned(input: ReportInput, value: unknown): Promise<RunOutcome> {
  const result = toStorableResult(value);
  const answer = await reportSuccess(input, result);
  if (answer.outcome === 'cancelled') {
    input.log.info('job_cancelled');
    return { outcome: 'cancelled', moreDue: answer.moreDue };
  }
  if (answer.outcome === 'succeeded') {
    const { resultProblem } = result;
    input.log.info('job_succeeded', { result_kept: resultProblem === undefined });
    return {
      outcome: 'succeeded',
      moreDue: answer.moreDue,
      ...(resultProblem === undefined ? {} : { resultProblem }),
    };
  }
  input.log.warn(answer.outcome === 'lease_lost' ? 'job_lease_lost' : 'job_outcome_unknown');
  return { outcome: answer.outcome };
}

async function reportFailed(input: ReportInput, failure: DescribedError): Promise<RunOutcome> {
  const { error, retryable } = failure;
  const answer = await reportFailure(input, { error, retryable });
  const { code } = error;
  switch (answer.outcome) {
    case 'pending':
      input.log.warn('job_failed', { code, retryable });
      return { outcome: 'retrying', code, dueAt: answer.dueAt, moreDue: answer.moreDue };
    case 'cancelled':
      input.log.info('job_cancelled');
      return { outcome: 'cancelled', moreDue: answer.moreDue };
    case 'dead':
      input.log.error('job_dead', { code, retryable });
      return { outcome: 'dead', code, moreDue: answer.moreDue };
    case 'lease_lost':
      input.log.warn('job_lease_lost');
      return { outcome: 'lease_lost' };
    case 'unknown':
      input.log.warn('job_outcome_unknown');
      return { outcome: 'unknown' };
  }
}

/** The faults of a payload as a failure that no retry can mend. */
export function invalidPayload(problems: readonly FieldProblem[]): Ending {
  const listed = problems.map(({ path, message }) => ({
    path: safeText(path, 200),
    message: safeText(message, 200),
  }));
  return {
    kind: 'failed',
    retryable: false,
    error: {
      code: 'invalid_payload',
      message: 'The payload does not fit the schema of its handler.',
      problems: listed,
    },
  };
}

/** A failure of the runner's own naming. */
export function failed(code: string, message: string, retryable: boolean): Ending {
  return { kind: 'failed', error: { code, message }, retryable };
}
