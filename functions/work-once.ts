import { MAX_UNRUNNABLE_PER_WORK } from '../shared/limits.ts';
import { getQueue } from '../shared/queue/get-queue.ts';
import { runJob } from '../shared/run-job.ts';
import { claimInTime } from './claim-in-time.ts';
import type { AppDeps } from './deps.ts';
import { pushOnce } from './push-once.ts';
import { runOperationsOver } from './run-operations-over.ts';
import { ran } from './work-outcome.ts';
import type { WorkOutcome } from './work-outcome.ts';

export interface WorkInput {
  readonly queue: string;
  /** Who claims, for the lease and the log. */
  readonly owner: string;
  /** Local milliseconds at which the platform ends this invocation. */
  readonly invocationEndsAt: number;
}

/**
 * Claims one job of a queue and runs it to its end, or pushes it when that is how the queue's jobs are delivered. One
 * invocation, one job: its lease fits into the time that the invocation has left, so a function that is killed leaves
 * nothing that is held longer than it could have run.
 *
 * A queue that has handlers in this deployment is served by them; only for another one is the database asked.
 */
export async function workOnce(deps: AppDeps, input: WorkInput): Promise<WorkOutcome> {
  const { handlers, sql } = deps;
  if (handlers.serves(input.queue)) return await handleOnce(deps, input);
  const queue = await getQueue(sql, { queue: input.queue });
  if (queue?.delivery !== 'push' || queue.target_url === null) return { outcome: 'no_handler' };
  return await pushOnce(deps, {
    queue: queue.name,
    targetUrl: queue.target_url,
    leaseSeconds: queue.lease_seconds,
    invocationEndsAt: input.invocationEndsAt,
  });
}

/**
 * One job is run; jobs that no handler here can run (a bad payload, an unknown type or version) die on the way without a
 * handler call, a few at most, so that healthy work behind them is served by the same call.
 */
async function handleOnce(deps: AppDeps, input: WorkInput): Promise<WorkOutcome> {
  for (let buried = 0; ; buried += 1) {
    const done = await handleNext(deps, input);
    if (!isUnrunnable(done) || !done.moreDue || buried >= MAX_UNRUNNABLE_PER_WORK) return done;
  }
}

/** Codes of failures that came before any handler was called. */
const UNRUNNABLE: readonly string[] = [
  'invalid_payload',
  'unknown_type',
  'unsupported_schema_version',
];

function isUnrunnable(done: WorkOutcome): done is Extract<WorkOutcome, { outcome: 'ran' }> {
  return (
    done.outcome === 'ran' && done.run.outcome === 'dead' && UNRUNNABLE.includes(done.run.code)
  );
}

async function handleNext(deps: AppDeps, input: WorkInput): Promise<WorkOutcome> {
  const claimed = await claimInTime(deps, {
    ...input,
    leaseSeconds: deps.handlers.leaseSeconds(input.queue),
  });
  if (claimed.outcome !== 'claimed') return claimed;
  const run = await runJob(
    { ...deps, operations: runOperationsOver(deps.sql) },
    { ...input, job: claimed.job, claimSentAt: claimed.claimSentAt },
  );
  return ran(claimed.job, run);
}
