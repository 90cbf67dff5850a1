import { claimNext } from '../shared/claim-next.ts';
import { defined } from '../shared/defined.ts';
import { completeAndClaim } from '../shared/queue/complete-and-claim.ts';
import type { RunOutcome } from '../shared/report-ending.ts';
import { runJob } from '../shared/run-job.ts';
import { tracedClaim } from './claim-span.ts';
import type { TakenJob } from './claim-in-time.ts';
import type { AppDeps } from './deps.ts';
import { runOperationsOver } from './run-operations-over.ts';
import { askWake } from './wake/ask-wake.ts';
import { hasTimeLeft, leaseAtMost } from './time-left.ts';

export interface RunAndTakeNextInput extends TakenJob {
  readonly owner: string;
  /** Lease to ask for, 1 to 3,600 s; default: the queue's. */
  readonly leaseSeconds: number | undefined;
  /** Local milliseconds at which the platform ends this invocation. */
  readonly invocationEndsAt: number;
  /** Whether a job behind this one is wanted, asked when this one is done. */
  readonly wantsNext: () => boolean;
}

export interface RunAndTaken {
  readonly run: RunOutcome;
  /** Another job of the same queue, taken by the report of this one. */
  readonly taken: TakenJob | undefined;
}

/** Runs a job to its report; a success takes the next job in the same call, where that is wanted and time is left. */
export async function runAndTakeNext(
  deps: AppDeps,
  input: RunAndTakeNextInput,
): Promise<RunAndTaken> {
  const { sql, clock, ids, log } = deps;
  const { job, owner, leaseSeconds, invocationEndsAt } = input;
  const claimId = ids.uuidv7();
  const fused = claimNext<TakenJob>({
    operations: runOperationsOver(deps),
    log,
    wanted: () => input.wantsNext() && hasTimeLeft(clock.now(), invocationEndsAt),
    completeAndClaim: async (report, options) => {
      const claimSentAt = clock.now();
      const claim = { queue: job.queue, claimId, ...defined({ leaseSeconds }) };
      const done = await tracedClaim(
        deps,
        [job.queue],
        () =>
          completeAndClaim(
            sql,
            { ...report, ...claim, leaseAtMost: leaseAtMost(claimSentAt, invocationEndsAt) },
            options,
          ),
        (taken) => (taken.outcome === 'lease_lost' || taken.next === undefined ? [] : [taken.next]),
      );
      deps.feed.changed();
      if (done.outcome === 'lease_lost' || done.next === undefined) {
        return { ...done, next: undefined };
      }
      askWake(deps, [done.next.leaseExpiresAt]);
      return { ...done, next: { job: done.next, claimSentAt } };
    },
  });
  const run = await runJob(
    { ...deps, operations: fused.operations },
    { job, owner, claimSentAt: input.claimSentAt, invocationEndsAt },
  );
  return { run, taken: fused.taken() };
}
