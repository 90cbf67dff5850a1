import { waitAtMost } from '../bounded-wait.ts';
import { defined } from '../defined.ts';
import { failed } from '../ending.ts';
import { MAX_PUSH_RESPONSE_BYTES, PUSH_TIMEOUT_MS, REPORT_MARGIN_MS } from '../limits.ts';
import { endJobSpan, startJobSpan } from '../job-span.ts';
import { LocalLease } from '../local-lease.ts';
import { logWith } from '../log-with.ts';
import type { Clock, Log, Outbound, Timer } from '../ports.ts';
import type { ClaimedJob } from '../queue/claimed-job.ts';
import { readStart } from '../read-start.ts';
import { reportEnding } from '../report-ending.ts';
import type { RunOutcome } from '../report-ending.ts';
import type { RunOperations } from '../run-operations.ts';
import type { Secret } from '../secret.ts';
import type { Tracer } from '../tracer.ts';
import { judgePush } from './push-answer.ts';
import type { PushVerdict } from './push-answer.ts';
import { pushRequest } from './push-request.ts';
import { checkPushTarget, targetAddressesProblem } from './target.ts';
import type { PushTargetPolicy } from './target.ts';

export interface PushJobDeps {
  readonly operations: Pick<
    RunOperations,
    'heartbeat' | 'complete' | 'fail' | 'snooze' | 'escalate'
  >;
  /** Keeps count of the target's health; `ok`: it answered, and not with a 5xx. */
  readonly recordPush: (ok: boolean) => Promise<unknown>;
  readonly outbound: Outbound;
  /** One or two; all sign. */
  readonly keys: readonly Secret[];
  readonly policy: PushTargetPolicy;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly log: Log;
  /** Makes the span of the attempt; absent: nothing is traced. */
  readonly tracer?: Tracer;
}

export interface PushJobInput {
  readonly job: ClaimedJob;
  /** As given to the claim. */
  readonly owner: string;
  readonly targetUrl: string;
  /** The queue's: what a receiver gets that takes the lease over. */
  readonly leaseSeconds: number;
  /** Local milliseconds when the claim was sent. */
  readonly claimSentAt: number;
  /** Local milliseconds at which the platform ends this invocation. */
  readonly invocationEndsAt: number;
}

/** `handed_over`: the receiver keeps the lease and reports by itself. */
export type PushOutcome = RunOutcome | { readonly outcome: 'handed_over' };

/**
 * Sends one claimed job to its queue's target and reports what the answer means. Never throws. It waits no longer than
 * the lease, the run deadline and the invocation allow, so a receiver that hangs costs one bounded wait.
 *
 * @example const end = await pushJob(deps, { job, owner, targetUrl, leaseSeconds, claimSentAt, invocationEndsAt });
 */
export async function pushJob(deps: PushJobDeps, input: PushJobInput): Promise<PushOutcome> {
  const { span, job } = startJobSpan(deps.tracer, 'push', input.job);
  const outcome = await pushToReport(deps, { ...input, job });
  endJobSpan(span, outcome);
  return outcome;
}

async function pushToReport(deps: PushJobDeps, input: PushJobInput): Promise<PushOutcome> {
  const { job, owner } = input;
  const log = logWith(deps.log, {
    job_id: job.jobId,
    queue: job.queue,
    type: job.type,
    attempt: job.attempt,
  });
  const attempt: Attempt = {
    deps: { ...deps, log },
    input,
    local: new LocalLease(input.claimSentAt, job.leaseRemainingMs),
    lease: { jobId: job.jobId, owner, fencingToken: job.fencingToken },
  };
  const sent = await send(attempt);
  const [outcome] = await Promise.all([
    sent.verdict.kind === 'handed_over' ? handOver(attempt) : report(attempt, sent.verdict),
    deps.recordPush(sent.healthy).catch(() => log.warn('push_record_failed')),
  ]);
  // A target that gives no answer is not asked again at once by a worker that pokes on: the drain will, unless it rests.
  return sent.healthy || !('moreDue' in outcome) ? outcome : { ...outcome, moreDue: false };
}

interface Attempt {
  readonly deps: PushJobDeps;
  readonly input: PushJobInput;
  readonly local: LocalLease;
  readonly lease: {
    readonly jobId: string;
    readonly owner: string;
    readonly fencingToken: string;
  };
}

interface Sent {
  readonly verdict: PushVerdict;
  /** Whether the target counts as alive. */
  readonly healthy: boolean;
}

/** Never rejects: whatever goes wrong on the way is a failed attempt. */
async function send(attempt: Attempt): Promise<Sent> {
  const { deps, input } = attempt;
  const target = checkPushTarget(input.targetUrl, deps.policy);
  if (!target.ok) return refused(`The target_url ${target.problem}.`);

  const deadlineAt = deadlineOf(attempt);
  // One signal for the answer's head and its body; at the end whatever is left of the exchange is let go.
  const exchange = new AbortController();
  try {
    let addresses: readonly string[] | undefined;
    if (!target.listed && deps.outbound.lookup !== undefined) {
      const { lookup } = deps.outbound;
      const host = target.url.hostname;
      const found = await within(deps, deadlineAt, () => lookup(host));
      if (found.kind !== 'value') return unanswered(found);
      const problem = targetAddressesProblem(found.value);
      if (problem !== undefined) return refused(`The target_url ${problem}.`);
      addresses = found.value;
    }
    const request = pushRequest({
      url: target.url,
      job: input.job,
      leaseSeconds: input.leaseSeconds,
      keys: deps.keys.map((key) => key.reveal()),
      nowMs: deps.clock.now(),
      signal: exchange.signal,
    });
    const answered = await within(deps, deadlineAt, () =>
      deps.outbound.fetch(request, defined({ addresses })),
    );
    if (answered.kind !== 'value') return unanswered(answered);
    const response = answered.value;
    const { status, headers } = response;
    // The status is the answer: a body that cannot be read changes nothing.
    const read = await within(deps, deadlineAt, () => readStart(response, MAX_PUSH_RESPONSE_BYTES));
    const body = read.kind === 'value' ? read.value : undefined;
    return {
      verdict: judgePush({ status, headers, body }, deps.clock.now()),
      healthy: status < 500,
    };
  } catch (error) {
    return unanswered({ kind: 'error', error });
  } finally {
    exchange.abort();
  }
}

async function within<Value>(
  { clock, timer }: PushJobDeps,
  deadlineAt: number,
  work: () => Promise<Value>,
): ReturnType<typeof waitAtMost<Value>> {
  return await waitAtMost(timer, deadlineAt - clock.now(), work);
}

/** The earliest of: the push's own time, the lease, the run deadline, the end of the invocation; with time to report. */
function deadlineOf({ deps, input, local }: Attempt): number {
  const { job, claimSentAt, invocationEndsAt } = input;
  const margin = Math.min(REPORT_MARGIN_MS, job.runRemainingMs / 10);
  return Math.min(
    deps.clock.now() + PUSH_TIMEOUT_MS,
    local.stopAt,
    claimSentAt + job.runRemainingMs - margin,
    invocationEndsAt - margin,
  );
}

async function report(
  { deps, input, local, lease }: Attempt,
  ending: Exclude<PushVerdict, { kind: 'handed_over' }>,
): Promise<RunOutcome> {
  try {
    const until = Math.min(local.stopAt, input.invocationEndsAt);
    return await reportEnding({ ...deps, lease, until }, ending);
  } catch {
    deps.log.error('report_refused');
    return { outcome: 'unknown' };
  }
}

/** The lease was cut to this invocation; from now on it is the receiver's, in its full length. */
async function handOver({ deps, input, lease }: Attempt): Promise<PushOutcome> {
  const { leaseSeconds } = input;
  try {
    // A marker instead of a step, so that the receiver counts its own steps from 1.
    const beat = { ...lease, step: 0, progress: 'handed over', leaseSeconds };
    const answer = await deps.operations.heartbeat(beat);
    if (answer.outcome === 'lease_lost') {
      deps.log.warn('job_lease_lost');
      return { outcome: 'lease_lost' };
    }
  } catch {
    deps.log.warn('heartbeat_failed');
  }
  deps.log.info('job_handed_over');
  return { outcome: 'handed_over' };
}

function refused(message: string): Sent {
  return { verdict: failed('push_target_refused', message, 'transient'), healthy: false };
}

function unanswered(
  wait:
    { readonly kind: 'timeout' | 'aborted' } | { readonly kind: 'error'; readonly error: unknown },
): Sent {
  const verdict =
    wait.kind === 'error'
      ? failed(
          'push_unreachable',
          `The target could not be reached${reasonOf(wait.error)}.`,
          'transient',
        )
      : failed('push_timeout', 'The target did not answer in time.', 'transient');
  return { verdict, healthy: false };
}

/** Codes like ECONNREFUSED; texts of network errors may repeat the URL, which may hold a secret. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : '';
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? `: ${code}` : '';
}
