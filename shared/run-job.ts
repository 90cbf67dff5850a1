import { pause } from './bounded-wait.ts';
import { effectsOf } from './effects.ts';
import { failed, invalidPayload } from './ending.ts';
import type { Ending } from './ending.ts';
import type { Handler, HandlerContext, HandlerJob } from './handler.ts';
import type { HandlerRegistry } from './handler-registry.ts';
import { endJobSpan, startJobSpan } from './job-span.ts';
import { JobStopped } from './job-stopped.ts';
import { keepLease } from './keep-lease.ts';
import type { StopReason } from './keep-lease.ts';
import { ABORT_GRACE_MS, DEFAULT_STEP_SECONDS, REPORT_MARGIN_MS } from './limits.ts';
import { LocalLease } from './local-lease.ts';
import { logWith } from './log-with.ts';
import type { Clock, Log, Timer } from './ports.ts';
import { Progress } from './progress.ts';
import type { ClaimedJob } from './queue/claimed-job.ts';
import { reportEnding } from './report-ending.ts';
import type { RunOutcome } from './report-ending.ts';
import type { RunOperations } from './run-operations.ts';
import { thrownEnding } from './thrown-ending.ts';
import type { Tracer } from './tracer.ts';

export interface RunJobDeps {
  readonly operations: RunOperations;
  readonly handlers: HandlerRegistry;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly log: Log;
  /** Makes the span of the attempt; absent: nothing is traced. */
  readonly tracer?: Tracer;
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

/**
 * Runs one claimed job under its lease and reports how it ended. Never throws and never reports twice: whatever the
 * handler does, throws or ignores, the answer is an outcome.
 *
 * @example const end = await runJob(deps, { job, owner, claimSentAt, invocationEndsAt: claimSentAt + 30_000 });
 */
export async function runJob(deps: RunJobDeps, input: RunJobInput): Promise<RunOutcome> {
  const { span, job } = startJobSpan(deps.tracer, 'process', input.job);
  const outcome = await runToReport(deps, { ...input, job });
  endJobSpan(span, outcome);
  return outcome;
}

async function runToReport(deps: RunJobDeps, input: RunJobInput): Promise<RunOutcome> {
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
    return await reportEnding(
      {
        ...attempt.deps,
        lease: leaseOf(attempt),
        until: Math.min(local.stopAt, input.invocationEndsAt),
      },
      ending,
    );
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

async function reachEnding(attempt: Attempt): Promise<Ending> {
  const { job } = attempt.input;
  const handler = attempt.deps.handlers.find(job.queue, job.type);
  if (handler === undefined) {
    return failed(
      'unknown_type',
      'No handler of this deployment takes this type of job.',
      'permanent',
    );
  }
  if (handler.schemaVersions?.includes(job.schemaVersion) === false) {
    return failed(
      'unsupported_schema_version',
      `The payload has schema version ${job.schemaVersion}; the handler takes ${handler.schemaVersions.join(', ')}.`,
      'permanent',
    );
  }
  return await runUnderLease(attempt, handler);
}

async function runUnderLease(attempt: Attempt, handler: Handler): Promise<Ending> {
  const { deps, input, local } = attempt;
  const { job } = input;
  const startedAt = deps.clock.now();
  const stepSeconds = handler.stepSeconds ?? DEFAULT_STEP_SECONDS;
  const progress = new Progress(deps.clock, stepSeconds);
  const stopHandler = new AbortController();
  const done = new AbortController();

  const { signal } = stopHandler;
  const lease = leaseOf(attempt);
  const running = runHandler(deps.clock, handler, job, {
    signal,
    progress: (marker) => progress.report(marker),
    idempotencyKey: job.jobId,
    fencingToken: job.fencingToken,
    attempt: job.attempt,
    note: job.note,
    lease,
    effect: effectsOf({ operations: deps.operations, lease, signal }),
    clock: deps.clock,
    log: deps.log,
  });
  const keeping = keepLease(
    {
      ...deps,
      lease,
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
  stopHandler.abort(new JobStopped(reason));
  deps.log.warn('handler_stopped', { reason });
  const late = await graceful(deps.timer, running);
  return stoppedEnding(reason, late, stepSeconds);
}

/** Never rejects: what a handler or its schema throws is a value here, described while it is at hand. */
async function runHandler(
  clock: Clock,
  handler: Handler,
  job: ClaimedJob,
  context: HandlerContext,
): Promise<Ending> {
  try {
    const prepared = await handler.prepare(job.payload);
    if (!prepared.ok) return invalidPayload(prepared.problems);
    context.signal.throwIfAborted();
    return { kind: 'returned', value: await prepared.run(handlerJob(job), context) };
  } catch (thrown) {
    return thrownEnding(thrown, clock.now());
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
      return failed(reason, 'The attempt ran longer than it may.', 'transient');
    case 'cancelled':
      // Whatever is reported ends the job as cancelled; a result that came after all is kept with it.
      if (late?.kind === 'returned') return late;
      return failed(reason, 'The job was called off while it ran.', 'permanent');
    case 'lease_expired':
      // Nobody said that the lease is lost, so work that was finished may still count: the database will judge.
      if (late?.kind === 'returned') return late;
      return failed(reason, 'No heartbeat was answered before the lease ran out.', 'transient');
    case 'no_progress':
      if (late?.kind === 'returned') return late;
      return failed(
        reason,
        `No progress was reported within the step time of ${stepSeconds} s, so the lease was not renewed.`,
        'transient',
      );
  }
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
