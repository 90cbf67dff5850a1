import { MAX_UNRUNNABLE_PER_WORK } from '../shared/limits.ts';
import type { RunOutcome } from '../shared/report-ending.ts';
import { claimInTime } from './claim-in-time.ts';
import type { ClaimInTimeOutcome, TakenJob } from './claim-in-time.ts';
import type { AppDeps } from './deps.ts';
import { giveJobBack } from './give-job-back.ts';
import { runAndTakeNext } from './run-and-take-next.ts';
import { hasTimeLeft, takesMoreUntil } from './time-left.ts';
import { ran } from './work-outcome.ts';
import type { WorkDone, WorkOutcome } from './work-outcome.ts';

export interface HandleJobsInput {
  readonly queue: string;
  /** Who claims, for the lease and the log. */
  readonly owner: string;
  /** Local milliseconds at which the platform ends this invocation. */
  readonly invocationEndsAt: number;
}

/**
 * Runs jobs of one queue by their handlers, one after another: `jobsPerInvocation` of them while work is due, and the last
 * of them still has time to run in (`takesMoreUntil`). The lease of each fits into the time that the invocation
 * has left, so a function that is killed leaves nothing that is held longer than it could have run.
 *
 * Where another job is wanted, the report of a success claims it in the same call: a busy queue costs one round trip a
 * job. Behind any other ending, the next one is claimed by itself. An attempt that ended without an answer is the last one,
 * and so is one whose lease was lost: whatever is wrong here, another invocation does not have it.
 *
 * Jobs that no handler here can run (a bad payload, an unknown type or version) die on the way without a handler call, a
 * few at most, so that healthy work behind them is served by the same call.
 */
export async function handleJobs(deps: AppDeps, input: HandleJobsInput): Promise<WorkOutcome> {
  const leaseSeconds = deps.handlers.leaseSeconds(input.queue);
  const takesUntil = takesMoreUntil(deps.clock.now(), input.invocationEndsAt, {
    takesMoreMs: deps.takesMoreMs,
    maxRunSeconds: deps.handlers.maxRunSeconds(input.queue),
  });
  let done: WorkDone | undefined;
  let next: TakenJob | undefined;
  for (;;) {
    const taken: ClaimInTimeOutcome =
      next === undefined
        ? await claimInTime(deps, { ...input, leaseSeconds })
        : { outcome: 'claimed', ...next };
    if (taken.outcome !== 'claimed') {
      if (done === undefined) return taken;
      // Work was due a moment ago: somebody else took it, or a limit of the queue holds it back.
      return taken.outcome === 'empty' ? { ...done, moreDue: false, heldBack: true } : done;
    }
    const { jobsRun, jobsBuried } = done ?? { jobsRun: 0, jobsBuried: 0 };
    const { run, taken: after } = await runAndTakeNext(deps, {
      ...input,
      ...taken,
      leaseSeconds,
      wantsNext: () => jobsRun + 1 < deps.config.jobsPerInvocation && deps.clock.now() < takesUntil,
    });
    const buried = isUnrunnable(run);
    done = {
      ...ran(taken.job, run, done),
      jobsRun: jobsRun + (buried ? 0 : 1),
      jobsBuried: jobsBuried + (buried ? 1 : 0),
    };
    next = after;
    if (next === undefined) {
      if (!goesOn(deps, done, run, takesUntil)) return done;
    } else if (!hasTimeLeft(deps.clock.now(), input.invocationEndsAt)) {
      // The report had to be repeated, and took the time that the claim was made for.
      const reason = 'No time was left to run it.';
      await giveJobBack(deps, { job: next.job, owner: input.owner, reason });
      return { ...done, moreDue: true };
    }
  }
}

function goesOn(
  { clock, config }: AppDeps,
  done: WorkDone,
  run: RunOutcome,
  takesUntil: number,
): boolean {
  if (!done.moreDue || run.outcome === 'lease_lost' || run.outcome === 'unknown') return false;
  if (done.jobsRun > 0 && clock.now() >= takesUntil) return false;
  return isUnrunnable(run)
    ? done.jobsBuried <= MAX_UNRUNNABLE_PER_WORK
    : done.jobsRun < config.jobsPerInvocation;
}

/** Codes of failures that came before any handler was called. */
const UNRUNNABLE: readonly string[] = [
  'invalid_payload',
  'unknown_type',
  'unsupported_schema_version',
];

function isUnrunnable(run: RunOutcome): boolean {
  return (run.outcome === 'dead' || run.outcome === 'escalated') && UNRUNNABLE.includes(run.code);
}
