import { claimNext } from '../claim-next.ts';
import { defined } from '../defined.ts';
import type { Handler, HandlerContext } from '../handler.ts';
import { Snooze } from '../handler-errors.ts';
import type { Log } from '../ports.ts';
import type { ClaimedJob } from '../queue/claimed-job.ts';
import type { RunOutcome } from '../report-ending.ts';
import { runJob } from '../run-job.ts';
import type { LeaseholdClient } from './client.ts';
import type { LeasedJob } from './lease-calls.ts';
import { pullComplete, pullOperations } from './pull-operations.ts';
import type { PulledJob } from './pull-operations.ts';

/** What a pull worker's handler may use; as in a deployed handler, without what needs the database. */
export type PullContext = Omit<HandlerContext, 'effect' | 'lease'>;

/** Does one job. What it returns is kept as the result; what it throws fails the attempt, by the rules of handlers. */
export type PullHandler = (job: LeasedJob, context: PullContext) => unknown;

export interface PullJobOutcome {
  readonly outcome: RunOutcome;
  /** Taken by the report; to be run, or to be given back. */
  readonly next: PulledJob | undefined;
}

export interface PullJobInput {
  readonly client: LeaseholdClient;
  readonly handler: PullHandler;
  readonly taken: PulledJob;
  /** Whether the report of a success shall take another job of the queue. */
  readonly wantsNext: () => boolean;
  /** Fires when the worker cannot wait for the job any longer. */
  readonly stopNow: AbortSignal;
  readonly leaseSeconds: number | undefined;
  readonly stepSeconds: number | undefined;
  readonly maxRunSeconds: number | undefined;
  readonly log: Log;
}

const WORKER_STOPS = 'The worker stops.';
const BACK_SOON_SECONDS = 1;

/** Runs one leased job to its report, which may take the next one. Never throws. */
export async function pullJob(input: PullJobInput): Promise<PullJobOutcome> {
  const { client, log } = input;
  const { job, sentAt } = input.taken;
  const { clock, timer, ids } = client.ports;
  const lease = await confirmed(input);
  if (lease === undefined) {
    log.warn('job_lease_lost', { job_id: job.id, queue: job.queue, type: job.type });
    return { outcome: { outcome: 'lease_lost' }, next: undefined };
  }
  const handler = sealed(input);
  const claimed = claimedJob(job, lease, sentAt);
  const claim = {
    queue: job.queue,
    claim_id: ids.uuidv7(),
    lease_seconds: input.leaseSeconds,
  };
  const fused = claimNext<PulledJob>({
    operations: pullOperations(client, lease.stepsBefore),
    log,
    wanted: input.wantsNext,
    completeAndClaim: (report, options) => pullComplete(client, report, claim, options),
  });
  const outcome = await runJob(
    {
      operations: fused.operations,
      handlers: {
        serves: () => true,
        queues: [claimed.queue],
        find: () => handler,
        leaseSeconds: () => claimed.leaseSeconds,
        maxRunSeconds: () => handler.maxRunSeconds,
      },
      clock,
      timer,
      log,
      ...defined({ tracer: client.tracer }),
    },
    {
      job: claimed,
      owner: 'the subject of the token', // over HTTP the service knows
      claimSentAt: lease.sentAt,
      invocationEndsAt: Number.POSITIVE_INFINITY,
    },
  );
  return { outcome, next: fused.taken() };
}

interface HeldLease {
  readonly sentAt: number;
  readonly remainingMs: number;
  readonly stepsBefore: number;
}

/**
 * The lease as the local clock may count on it. An answer that took long, a claim that waited above all, tells nothing of
 * how much of the lease is left: a heartbeat does.
 */
async function confirmed({
  client,
  taken: { job, sentAt },
  leaseSeconds,
}: PullJobInput): Promise<HeldLease | undefined> {
  const remainingMs = job.lease_remaining_ms;
  if (client.ports.clock.now() - sentAt <= remainingMs / 10) {
    return { sentAt, remainingMs, stepsBefore: 0 };
  }
  const beat = { step: 1, lease_seconds: leaseSeconds };
  const held = await client.heartbeat(job, beat).catch(() => undefined);
  if (held?.outcome !== 'held') return undefined;
  return { sentAt: held.sentAt, remainingMs: held.lease_remaining_ms, stepsBefore: 1 };
}

function sealed({ handler, taken: { job }, stopNow, ...times }: PullJobInput): Handler {
  return {
    queue: job.queue,
    type: job.type,
    schemaVersions: undefined,
    leaseSeconds: times.leaseSeconds,
    stepSeconds: times.stepSeconds,
    maxRunSeconds: times.maxRunSeconds,
    prepare: async () => ({
      ok: true,
      run: async ({ headers }, { effect: _effect, lease: _lease, ...context }) => {
        const signal = AbortSignal.any([context.signal, stopNow]);
        try {
          return await handler({ ...job, headers }, { ...context, signal });
        } catch (thrown) {
          // It was told to stop by this worker alone, so this is no failure: the job goes to another one.
          if (stopNow.aborted && !context.signal.aborted) {
            throw new Snooze(BACK_SOON_SECONDS, WORKER_STOPS);
          }
          throw thrown;
        }
      },
    }),
  };
}

function claimedJob(job: LeasedJob, lease: HeldLease, claimSentAt: number): ClaimedJob {
  return {
    jobId: job.id,
    queue: job.queue,
    type: job.type,
    payload: job.payload,
    headers: job.headers,
    schemaVersion: job.schema_version,
    priority: job.priority,
    fencingToken: job.fencing_token,
    attempt: job.attempt,
    maxAttempts: job.max_attempts,
    leaseSeconds: job.lease_seconds,
    leaseExpiresAt: new Date(job.lease_expires_at),
    leaseRemainingMs: lease.remainingMs,
    runDeadlineAt: new Date(job.run_deadline_at),
    // Told when the claim was answered, and counted from when the lease was confirmed.
    runRemainingMs: job.run_remaining_ms - (lease.sentAt - claimSentAt),
    createdAt: new Date(job.created_at),
    moreDue: job.more_due,
    orderingKey: job.ordering_key,
    redrives: job.redrives,
    note: job.note,
  };
}
