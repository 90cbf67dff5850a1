import { pause } from './bounded-wait.ts';
import { describeError } from './describe-error.ts';
import type { DescribedError } from './describe-error.ts';
import type { FieldProblem } from './errors.ts';
import type { Handler, HandlerContext, HandlerJob, PreparedRun, Run } from './handler.ts';
import type { HandlerRegistry } from './handler-registry.ts';
import { keepLease } from './keep-lease.ts';
import type { StopReason } from './keep-lease.ts';
import { ABORT_GRACE_MS, DEFAULT_STEP_SECONDS, REPORT_MARGIN_MS } from './limits.ts';
import { LocalLease } from './local-lease.ts';
import { logWith } from './log-with.ts';
import type { Clock, Log, Timer } from './ports.ts';
import { Progress } from './progress.ts';
import type { ClaimedJob } from './queue/claim.ts';
import { reportFailure, reportSuccess } from './report-outcome.ts';
import type { ReportInput } from './report-outcome.ts';
import type { RunOperations } from './run-operations.ts';
import { safeText } from './safe-text.ts';
import { toStorableResult } from './storable-result.ts';

export interface RunJobDeps {
  readonly operations: RunOperations;
  readonly handlers: HandlerRegistry;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly log: Log;
}

export interface RunJobInput {
  readonly job: ClaimedJob;
  /** As given to the claim. */
  readonly owner: string;
  /** Local milliseconds when the claim was sent. */
  readonly claimSentAt: number;
  /** Local milliseconds at which the platform ends this invocation. */
  readonly invocationEndsAt: number;
}

/** How the attempt ended, as far as this side knows. */
export type RunOutcome =
  | { readonly outcome: 'succeeded'; readonly moreDue: boolean; readonly resultProblem?: string }
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
 * Runs one claimed job under its lease and reports how it ended. Never throws and never reports twice: whatever the
 * handler does, throws or ignores, the answer is an outcome.
 *
 * @example const end = await runJob(deps, { job, owner, claimSentAt, invocationEndsAt: claimSentAt + 30_000 });
 */
export async function runJob(deps: RunJobDeps, input: RunJobInput): Promise<RunOutcome> {
  const { job } = input;
  const log = logWith(deps.log, {
    job_id: job.jobId,
    queue: job.queue,
    type: job.type,
    attempt: job.attempt,
  });
  const local = new LocalLease(input.claimSentAt, job.leaseRemainingMs);
  const attempt: Attempt = { deps: { ...deps, log }, input, local };
  try {
    const ending = await reachEnding(attempt);
    return await report(attempt, ending);
  } catch {
    // Only a refusal of the report itself ends here: the database answered that it cannot take it.
    log.error('report_refused');
    return { outcome: 'unknown' };
  }
}

interface Attempt {
  readonly deps: RunJobDeps;
  readonly input: RunJobInput;
  readonly local: LocalLease;
}

/** What the attempt came to, before the database has heard of it. */
type Ending =
  | { readonly kind: 'returned'; readonly value: unknown }
  | ({ readonly kind: 'failed' } & DescribedError)
  | { readonly kind: 'lease_lost' };

async function reachEnding(attempt: Attempt): Promise<Ending> {
  const { job } = attempt.input;
  const handler = attempt.deps.handlers.find(job.queue, job.type);
  if (handler === undefined) {
    return failed('unknown_type', 'No handler of this deployment takes this type of job.', false);
  }
  const prepared = await prepare(handler, attempt);
  if ('kind' in prepared) return prepared;
  if (!prepared.ok) return invalidPayload(prepared.problems);
  return await runUnderLease(attempt, handler, prepared.run);
}

async function prepare(handler: Handler, attempt: Attempt): Promise<PreparedRun | Ending> {
  try {
    return await handler.prepare(attempt.input.job.payload);
  } catch (thrown) {
    return { kind: 'failed', ...describeError(thrown) };
  }
}

async function runUnderLease(attempt: Attempt, handler: Handler, run: Run): Promise<Ending> {
  const { deps, input, local } = attempt;
  const { job } = input;
  const startedAt = deps.clock.now();
  const stepSeconds = handler.stepSeconds ?? DEFAULT_STEP_SECONDS;
  const progress = new Progress(deps.clock, stepSeconds);
  const stopHandler = new AbortController();
  const done = new AbortController();

  const running = runHandler(run, handlerJob(job), {
    signal: stopHandler.signal,
    progress: (marker) => progress.report(marker),
    idempotencyKey: job.jobId,
    fencingToken: job.fencingToken,
    attempt: job.attempt,
    log: deps.log,
  });
  const keeping = keepLease(
    {
      ...deps,
      lease: leaseOf(attempt),
      local,
      progress,
      leaseSeconds: handler.leaseSeconds ?? job.leaseSeconds,
      invocationEndsAt: input.invocationEndsAt,
      deadlineAt: deadlineOf(attempt, handler, startedAt),
    },
    done.signal,
  );

  const first = await Promise.race([running, keeping]);
  done.abort();
  if (typeof first === 'object') return first;
  const reason = first ?? 'lease_expired';
  stopHandler.abort(new DOMException(`The job must stop: ${reason}.`, 'AbortError'));
  deps.log.warn('handler_stopped', { reason });
  const late = await graceful(deps.timer, running);
  return stoppedEnding(reason, late, stepSeconds);
}

/** Never rejects: what a handler throws is a value here, described while it is at hand. */
async function runHandler(
  run: Run,
  job: Omit<HandlerJob<unknown>, 'payload'>,
  context: HandlerContext,
): Promise<Ending> {
  try {
    return { kind: 'returned', value: await run(job, context) };
  } catch (thrown) {
    return { kind: 'failed', ...describeError(thrown) };
  }
}

/** The earliest of: the queue's run deadline, the handler's own, the end of the invocation; minus time to report. */
function deadlineOf(attempt: Attempt, handler: Handler, startedAt: number): number {
  const { job, claimSentAt, invocationEndsAt } = attempt.input;
  const margin = Math.min(REPORT_MARGIN_MS, job.runRemainingMs / 10);
  const own =
    handler.maxRunSeconds === undefined ? Infinity : startedAt + handler.maxRunSeconds * 1000;
  return Math.min(claimSentAt + job.runRemainingMs - margin, invocationEndsAt - margin, own);
}

/** An aborted handler may clean up, but not keep us: after the grace its attempt is reported without it. */
async function graceful(timer: Timer, running: Promise<Ending>): Promise<Ending | undefined> {
  const over = new AbortController();
  const late = await Promise.race([
    running,
    pause(timer, ABORT_GRACE_MS, over.signal).then(() => undefined),
  ]);
  over.abort();
  return late;
}

function stoppedEnding(reason: StopReason, late: Ending | undefined, stepSeconds: number): Ending {
  switch (reason) {
    case 'lease_lost':
      return { kind: 'lease_lost' };
    case 'run_deadline_exceeded':
      return failed(reason, 'The attempt ran longer than it may.', true);
    case 'lease_expired':
      // Nobody said that the lease is lost, so work that was finished may still count: the database will judge.
      if (late?.kind === 'returned') return late;
      return failed(reason, 'No heartbeat was answered before the lease ran out.', true);
    case 'no_progress':
      if (late?.kind === 'returned') return late;
      return failed(
        reason,
        `No progress was reported within the step time of ${stepSeconds} s, so the lease was not renewed.`,
        true,
      );
  }
}

async function report(attempt: Attempt, ending: Ending): Promise<RunOutcome> {
  const { log } = attempt.deps;
  if (ending.kind === 'lease_lost') {
    log.warn('job_lease_lost');
    return { outcome: 'lease_lost' };
  }
  const input: ReportInput = {
    ...attempt.deps,
    lease: leaseOf(attempt),
    until: Math.min(attempt.local.stopAt, attempt.input.invocationEndsAt),
  };
  return ending.kind === 'returned'
    ? await reportReturned(input, ending.value)
    : await reportFailed(input, ending);
}

async function reportReturned(input: ReportInput, value: unknown): Promise<RunOutcome> {
  const result = toStorableResult(value);
  const answer = await reportSuccess(input, result);
  if (answer.outcome === 'succeeded') {
    const { resultProblem } = result;
    input.log.info('job_succeeded', { result_kept: resultProblem === undefined });
    return { ...answer, ...(resultProblem === undefined ? {} : { resultProblem }) };
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

function invalidPayload(problems: readonly FieldProblem[]): Ending {
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

function failed(code: string, message: string, retryable: boolean): Ending {
  return { kind: 'failed', error: { code, message }, retryable };
}

function leaseOf({ input }: Attempt): { jobId: string; owner: string; fencingToken: string } {
  return {
    jobId: input.job.jobId,
    owner: input.owner,
    fencingToken: input.job.fencingToken,
  };
}

function handlerJob(job: ClaimedJob): Omit<HandlerJob<unknown>, 'payload'> {
  return {
    id: job.jobId,
    queue: job.queue,
    type: job.type,
    headers: job.headers,
    schemaVersion: job.schemaVersion,
    attempt: job.attempt,
    maxAttempts: job.maxAttempts,
    createdAt: job.createdAt,
  };
}
