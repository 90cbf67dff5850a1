import { MIN_LEASE_SECONDS, REPORT_MARGIN_MS } from '../shared/limits.ts';
import { claim } from '../shared/queue/claim.ts';
import type { ClaimedJob } from '../shared/queue/claim.ts';
import { complete } from '../shared/queue/complete.ts';
import { fail } from '../shared/queue/fail.ts';
import { heartbeat } from '../shared/queue/heartbeat.ts';
import type { RunOperations } from '../shared/run-operations.ts';
import { runJob } from '../shared/run-job.ts';
import type { RunOutcome } from '../shared/report-ending.ts';
import type { Sql } from '../shared/ports.ts';
import type { AppDeps } from './deps.ts';

export interface WorkInput {
  readonly queue: string;
  /** Who claims, for the lease and the log. */
  readonly owner: string;
  /** Local milliseconds at which the platform ends this invocation. */
  readonly invocationEndsAt: number;
}

export type WorkOutcome =
  /** This deployment has no handler for the queue, so nothing was claimed: whoever has one may still do it. */
  | { readonly outcome: 'no_handler' }
  | { readonly outcome: 'empty' }
  /** So little of the invocation is left that an attempt would be spent on nothing, so nothing was claimed. */
  | { readonly outcome: 'no_time' }
  | {
      readonly outcome: 'ran';
      readonly job: ClaimedJob;
      readonly run: RunOutcome;
      readonly moreDue: boolean;
    };

/**
 * Claims one job of a queue and runs it to its end. One invocation, one job: its lease fits into the time that the
 * invocation has left, so a function that is killed leaves nothing that is held longer than it could have run.
 */
export async function workOnce(deps: AppDeps, input: WorkInput): Promise<WorkOutcome> {
  const { clock, handlers, ids, sql } = deps;
  if (!handlers.serves(input.queue)) return { outcome: 'no_handler' };

  const claimSentAt = clock.now();
  const msLeft = input.invocationEndsAt - claimSentAt;
  // A slow body or a database that had to wake up can use up the whole invocation before anything is claimed.
  if (msLeft <= REPORT_MARGIN_MS) return { outcome: 'no_time' };
  const secondsLeft = Math.floor(msLeft / 1000);
  const claimed = await claim(sql, {
    queue: input.queue,
    owner: input.owner,
    claimId: ids.uuidv7(),
    leaseSeconds: Math.max(
      MIN_LEASE_SECONDS,
      Math.min(handlers.leaseSeconds(input.queue), secondsLeft),
    ),
  });
  if (claimed.outcome === 'empty') return claimed;

  const { job } = claimed;
  const run = await runJob(
    { ...deps, operations: operationsOver(sql) },
    { job, owner: input.owner, claimSentAt, invocationEndsAt: input.invocationEndsAt },
  );
  // A run that ended without an answer knows no better than the claim did.
  return { outcome: 'ran', job, run, moreDue: 'moreDue' in run ? run.moreDue : job.moreDue };
}

function operationsOver(sql: Sql): RunOperations {
  return {
    heartbeat: (input, options) => heartbeat(sql, input, options),
    complete: (input, options) => complete(sql, input, options),
    fail: (input, options) => fail(sql, input, options),
  };
}
