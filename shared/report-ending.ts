import type { AttemptFailure, Ending } from './ending.ts';
import { MAX_NOTE_CHARS, MAX_REASON_CHARS } from './limits.ts';
import { reportFailure, reportQuestion, reportSnooze, reportSuccess } from './report-outcome.ts';
import type { ReportInput } from './report-outcome.ts';
import { safeText } from './safe-text.ts';
import { toStorableResult } from './storable-result.ts';

/** As the job says why it escalated. */
const ASKED = 'asked_for_human';

/** How the attempt ended, as far as this side knows. */
export type RunOutcome =
  | { readonly outcome: 'succeeded'; readonly moreDue: boolean; readonly resultProblem?: string }
  /** It had been called off before the report came. */
  | { readonly outcome: 'cancelled'; readonly moreDue?: boolean }
  | {
      readonly outcome: 'retrying';
      readonly code: string;
      readonly dueAt: Date;
      readonly moreDue: boolean;
    }
  /** `escalated`: a person is asked. */
  | { readonly outcome: 'dead' | 'escalated'; readonly code: string; readonly moreDue: boolean }
  /** "Not now": it waits until then, and no attempt was spent. */
  | { readonly outcome: 'snoozed'; readonly dueAt: Date }
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
    case 'snoozed':
      return await reportSnoozed(input, ending);
    case 'asked':
      return await reportAsked(input, ending.question);
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

async function reportFailed(input: ReportInput, failure: AttemptFailure): Promise<RunOutcome> {
  const answer = await reportFailure(input, failure);
  const { code } = failure.error;
  const fields = { code, class: failure.failureClass };
  switch (answer.outcome) {
    case 'pending':
      input.log.warn('job_failed', fields);
      return { outcome: 'retrying', code, dueAt: answer.dueAt, moreDue: answer.moreDue };
    case 'cancelled':
      input.log.info('job_cancelled');
      return { outcome: 'cancelled', moreDue: answer.moreDue };
    case 'dead':
      input.log.error('job_dead', fields);
      return { outcome: 'dead', code, moreDue: answer.moreDue };
    case 'escalated':
      input.log.warn('job_escalated', fields);
      return { outcome: 'escalated', code, moreDue: answer.moreDue };
    case 'lease_lost':
      input.log.warn('job_lease_lost');
      return { outcome: 'lease_lost' };
    case 'unknown':
      input.log.warn('job_outcome_unknown');
      return { outcome: 'unknown' };
  }
}

async function reportAsked(input: ReportInput, question: string): Promise<RunOutcome> {
  const words = safeText(question, MAX_NOTE_CHARS);
  const answer = await reportQuestion(
    input,
    words === '' ? 'The handler did not say what.' : words,
  );
  switch (answer.outcome) {
    case 'escalated':
      input.log.info('job_escalated', { code: ASKED });
      return { outcome: 'escalated', code: ASKED, moreDue: answer.moreDue };
    case 'cancelled':
      input.log.info('job_cancelled');
      return { outcome: 'cancelled', moreDue: answer.moreDue };
    case 'lease_lost':
      input.log.warn('job_lease_lost');
      return { outcome: 'lease_lost' };
    case 'unknown':
      input.log.warn('job_outcome_unknown');
      return { outcome: 'unknown' };
  }
}

async function reportSnoozed(
  input: ReportInput,
  { delayMs, reason }: { readonly delayMs: number; readonly reason: string },
): Promise<RunOutcome> {
  const answer = await reportSnooze(input, { delayMs, reason: safeText(reason, MAX_REASON_CHARS) });
  switch (answer.outcome) {
    case 'pending':
      input.log.info('job_snoozed', { delay_ms: delayMs });
      return { outcome: 'snoozed', dueAt: answer.dueAt };
    case 'cancelled':
      input.log.info('job_cancelled');
      return { outcome: 'cancelled' };
    case 'lease_lost':
      input.log.warn('job_lease_lost');
      return { outcome: 'lease_lost' };
    case 'unknown':
      input.log.warn('job_outcome_unknown');
      return { outcome: 'unknown' };
  }
}
