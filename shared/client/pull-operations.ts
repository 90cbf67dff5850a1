import { LeaseholdError } from '../errors.ts';
import type { CompleteAndClaimOutcome } from '../queue/complete-and-claim.ts';
import type { CompleteInput } from '../queue/complete.ts';
import type { RunOperations } from '../run-operations.ts';
import { LeaseholdApiError } from './api-error.ts';
import type { Completion, LeaseCalls, LeasedJob, LeaseName } from './lease-calls.ts';
import { isWorthAnotherTry } from './retry.ts';

/** A job that this worker holds. */
export interface PulledJob {
  readonly job: LeasedJob;
  /** Local milliseconds when the call went out that took it. */
  readonly sentAt: number;
}

/**
 * What a run says to the queue, said over HTTP. One try a call: the run itself repeats what got no answer, for as long as
 * the lease lasts.
 *
 * @param stepsBefore heartbeat steps that were spent before the run began
 */
export function pullOperations(
  client: Pick<LeaseCalls, 'heartbeat' | 'complete' | 'fail' | 'escalate' | 'snooze'>,
  stepsBefore: number,
): RunOperations {
  return {
    heartbeat: async ({ step, progress, leaseSeconds, ...lease }, options) => {
      const beat = { step: step + stepsBefore, progress, lease_seconds: leaseSeconds };
      const held = await told(client.heartbeat(nameOf(lease), beat, once(options)));
      if (held.outcome === 'lease_lost') return held;
      return {
        outcome: 'held',
        leaseExpiresAt: new Date(held.lease_expires_at),
        leaseRemainingMs: held.lease_remaining_ms,
        cancelRequested: held.cancel_requested,
      };
    },
    complete: (report, options) => pullComplete(client, report, undefined, options),
    fail: async ({ error, failureClass, retryAfterMs, ...lease }, options) => {
      const failure = {
        error,
        class: failureClass,
        retry_after_seconds: retryAfterMs === undefined ? undefined : retryAfterMs / 1000,
      };
      const end = await told(client.fail(nameOf(lease), failure, once(options)));
      if (end.outcome === 'lease_lost') return end;
      return end.outcome === 'pending'
        ? { outcome: end.outcome, dueAt: new Date(end.due_at), moreDue: end.more_due }
        : { outcome: end.outcome, moreDue: end.more_due };
    },
    escalate: async ({ question, ...lease }, options) => {
      const end = await told(client.escalate(nameOf(lease), question, once(options)));
      if (end.outcome === 'lease_lost') return end;
      return { outcome: end.outcome, moreDue: end.more_due };
    },
    snooze: async ({ delayMs, reason, ...lease }, options) => {
      const pause = { delay_seconds: delayMs / 1000, reason: reason === '' ? undefined : reason };
      const end = await told(client.snooze(nameOf(lease), pause, once(options)));
      return end.outcome === 'pending'
        ? { outcome: end.outcome, dueAt: new Date(end.due_at) }
        : { outcome: end.outcome };
    },
    beginEffect: async () => await Promise.reject(noEffects()),
    settleEffect: async () => await Promise.reject(noEffects()),
  };
}

/** Reports success, in one try; with a claim, the next job may come with it. */
export async function pullComplete(
  client: Pick<LeaseCalls, 'complete'>,
  { result, resultProblem, ...lease }: CompleteInput,
  claim: Completion['claim_next'],
  options?: { readonly signal?: AbortSignal },
): Promise<CompleteAndClaimOutcome<PulledJob>> {
  const report = { result, result_problem: resultProblem, claim_next: claim };
  const end = await told(client.complete(nameOf(lease), report, once(options)));
  if (end.outcome === 'lease_lost') return end;
  const { outcome, more_due: moreDue, next: job = null, sentAt } = end;
  return { outcome, moreDue, next: job === null ? undefined : { job, sentAt } };
}

function nameOf(lease: { readonly jobId: string; readonly fencingToken: string }): LeaseName {
  return { id: lease.jobId, fencing_token: lease.fencingToken };
}

function once(options: { readonly signal?: AbortSignal } | undefined): {
  readonly signal?: AbortSignal;
  readonly maxTries: number;
} {
  return { ...options, maxTries: 1 };
}

/** A refusal for good is told apart from an answer that did not come: only the second is worth repeating. */
async function told<Value>(call: Promise<Value>): Promise<Value> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof LeaseholdApiError) || isWorthAnotherTry(error)) throw error;
    throw new LeaseholdError('invalid_request', error.message, { cause: error });
  }
}

function noEffects(): LeaseholdError {
  return new LeaseholdError('invalid_request', 'Effects are recorded beside the database alone.');
}
