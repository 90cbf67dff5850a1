import { pause, waitAtMost } from './bounded-wait.ts';
import { MIN_LEASE_SECONDS, REPORT_RETRY_MS } from './limits.ts';
import type { LocalLease } from './local-lease.ts';
import type { Clock, Log, Timer } from './ports.ts';
import type { Progress } from './progress.ts';
import type { HeartbeatInput } from './queue/heartbeat.ts';
import type { Lease } from './queue/lease.ts';
import type { RunOperations } from './run-operations.ts';

/** Why a handler must stop before it is done. */
export type StopReason =
  /** A heartbeat was answered so: someone else may hold the job. */
  | 'lease_lost'
  /** No heartbeat got an answer in time, so the lease must be taken as expired. */
  | 'lease_expired'
  /** The handler's step time passed without a new marker, so no renewal was asked for. */
  | 'no_progress'
  /** The attempt has had its time: the queue's, the handler's or the invocation's. */
  | 'run_deadline_exceeded'
  /** A heartbeat was answered so: the job was called off. */
  | 'cancelled';

const RECHECK_MS = 1000;

export interface KeepLeaseInput {
  readonly operations: Pick<RunOperations, 'heartbeat'>;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly log: Log;
  readonly lease: Lease;
  readonly local: LocalLease;
  readonly progress: Progress;
  /** Seconds to ask for at a beat. */
  readonly leaseSeconds: number;
  /** Local milliseconds at which the invocation ends: no lease is asked for beyond it. */
  readonly invocationEndsAt: number;
  /** Local milliseconds at which the run must be over, whatever the lease says. */
  readonly deadlineAt: number;
}

/**
 * Keeps a lease alive while a handler earns it: a heartbeat at each third of the lease.
 *
 * A beat that is *answered* with `lease_lost` ends everything at once, and no further beat is sent; one that says the job
 * was called off does so too, while the lease still holds, so that the attempt can be reported. A beat that *fails*
 * says nothing about the lease: work goes on, the same beat is tried again, and the local copy of the expiry is the
 * last resort. The run deadline is not moved by anything.
 *
 * @param ended fires when the handler is done and there is nothing left to keep
 * @returns why to stop, or undefined when `ended` fired first
 */
export async function keepLease(
  input: KeepLeaseInput,
  ended: AbortSignal,
): Promise<StopReason | undefined> {
  const { clock, timer, local, progress, log } = input;
  let step = 0;
  let beatAt = local.nextBeatAt;
  let unproven = false;

  while (!ended.aborted) {
    const wakeAt = Math.min(beatAt, local.stopAt, input.deadlineAt);
    if (!(await pause(timer, wakeAt - clock.now(), ended))) return undefined;
    const now = clock.now();
    if (now >= input.deadlineAt) return 'run_deadline_exceeded';
    if (now >= local.stopAt) return unproven ? 'no_progress' : 'lease_expired';
    if (now < beatAt) continue;

    if (!progress.hasEvidence()) {
      if (!unproven) log.warn('heartbeat_withheld');
      unproven = true;
      // A marker may move at any time, so look again soon: the beat is sent as soon as it is earned.
      beatAt = now + Math.min(local.beatInterval, RECHECK_MS);
      continue;
    }
    unproven = false;
    step += 1;
    const stop = await beat(input, { step, ...progress.takeEvidence() }, ended);
    if (stop !== 'held') return stop;
    beatAt = local.nextBeatAt;
  }
  return undefined;
}

/** One beat, repeated until it is answered or time is up; the step number makes every repeat the same beat. */
async function beat(
  input: KeepLeaseInput,
  evidence: { readonly step: number; readonly progress?: string },
  ended: AbortSignal,
): Promise<StopReason | 'held' | undefined> {
  const { clock, timer, local, log } = input;
  let failed = false;
  for (;;) {
    const sentAt = clock.now();
    const stopAt = Math.min(local.stopAt, input.deadlineAt);
    const answer = await waitAtMost(
      timer,
      stopAt - sentAt,
      (signal) => input.operations.heartbeat(beatInput(input, evidence, sentAt), { signal }),
      ended,
    );
    if (answer.kind === 'aborted') return undefined;
    if (answer.kind === 'value') {
      if (answer.value.outcome === 'lease_lost') return 'lease_lost';
      if (failed) log.info('heartbeat_recovered');
      local.renew(sentAt, answer.value.leaseRemainingMs);
      return answer.value.cancelRequested ? 'cancelled' : 'held';
    }
    if (!failed) log.warn('heartbeat_failed');
    failed = true;
    const retryAt = Math.min(clock.now() + REPORT_RETRY_MS, stopAt);
    if (!(await pause(timer, retryAt - clock.now(), ended))) return undefined;
    if (clock.now() >= input.deadlineAt) return 'run_deadline_exceeded';
    if (clock.now() >= local.stopAt) return 'lease_expired';
  }
}

function beatInput(
  input: KeepLeaseInput,
  evidence: { readonly step: number; readonly progress?: string },
  now: number,
): HeartbeatInput {
  const secondsLeft = Math.floor((input.invocationEndsAt - now) / 1000);
  return {
    ...input.lease,
    ...evidence,
    leaseSeconds: Math.max(MIN_LEASE_SECONDS, Math.min(input.leaseSeconds, secondsLeft)),
  };
}
