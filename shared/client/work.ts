import { pause } from '../bounded-wait.ts';
import type { Log } from '../ports.ts';
import type { RunOutcome } from '../report-ending.ts';
import { LeaseholdApiError } from './api-error.ts';
import type { LeaseholdClient } from './client.ts';
import type { LeasedJob } from './lease-calls.ts';
import { pullJob } from './pull-job.ts';
import type { PullHandler } from './pull-job.ts';
import type { PulledJob } from './pull-operations.ts';
import { isWorthAnotherTry } from './retry.ts';

/** A claim waits this long for a job, by default. */
const WAIT_SECONDS = 20;
/** After a claim that failed for all its tries, or one that did not wait and found nothing. */
const LONG_PAUSE_MS = 5000;
/** After one that waited and found nothing: a service that answers at once must not be asked without end. */
const SHORT_PAUSE_MS = 250;
const GRACE_MS = 10_000;
const MAX_CONCURRENCY = 100;

export interface WorkOptions {
  /** Fires when the worker shall stop: it claims no more and waits for the jobs that run. */
  readonly signal: AbortSignal;
  /** Jobs at one time, 1 to 100; default 1. */
  readonly concurrency?: number;
  /** Lease per claim and heartbeat, 1 to 3,600 s; default: the queue's. */
  readonly leaseSeconds?: number;
  /** Longest time between two progress markers, in seconds; default 60. Past it, the lease is not renewed. */
  readonly stepSeconds?: number;
  /** Longest run of one attempt, in seconds; default and upper bound: the queue's. */
  readonly maxRunSeconds?: number;
  /** Seconds that a claim waits for a job, 0 to 20; default 20. */
  readonly waitSeconds?: number;
  /**
   * Whether the report of a success takes the next job in the same call, so that a busy worker needs one round trip a job;
   * default true. A service that is older than this client may not know how.
   */
  readonly claimNext?: boolean;
  /** After `signal`, jobs may run on for this long; then their own signal fires and they are given back. Default 10 s. */
  readonly graceMs?: number;
  readonly log?: Log;
  /** Told how each job ended. What it throws stops the worker as `signal` does, and is thrown by `work` when the jobs have ended. */
  readonly onEnd?: (job: LeasedJob, outcome: RunOutcome) => void;
}

/**
 * Pulls jobs of one queue and runs them until `signal` fires. Each runs under its lease: heartbeats go out while it makes
 * progress, its signal fires when the lease is lost or the job is called off, and what it returns or throws is reported, by
 * the rules of handlers (`PermanentError`, `TransientError`, `RetryAfter`, `Snooze`, `AskPerson`).
 *
 * @throws {LeaseholdApiError} when the service refuses the worker for good: its token, scope or request
 * @throws {RangeError} when `concurrency` is out of range
 * @throws whatever `onEnd` threw first
 * @example
 * await work(client, 'emails', async (job, { signal, progress }) => {
 *   await sendMail(job.payload, { signal });
 * }, { signal: stop.signal, concurrency: 5 });
 */
export async function work(
  client: LeaseholdClient,
  queue: string,
  handler: PullHandler,
  options: WorkOptions,
): Promise<void> {
  const { concurrency = 1, log = SILENT } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MAX_CONCURRENCY) {
    throw new RangeError(`concurrency must be an integer from 1 to ${MAX_CONCURRENCY}`);
  }
  const { timer, ids, random } = client.ports;
  const running = new Set<Promise<void>>();
  /** A run has nobody to throw to while a claim waits: its fault stops the worker, which throws it in the end. */
  const fault = new AbortController();
  const stop = AbortSignal.any([options.signal, fault.signal]);
  const stopped = new Promise<void>((resolve) => {
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
  const stopNow = new AbortController();
  const wantsNext = (): boolean => options.claimNext !== false && !stop.aborted;
  /** Runs a job, then the one that its report took, until a report takes none. */
  const runFrom = async (first: PulledJob): Promise<void> => {
    for (let taken: PulledJob | undefined = first; taken !== undefined;) {
      let next: PulledJob | undefined;
      try {
        const end = await pullJob({
          client,
          handler,
          taken,
          wantsNext,
          stopNow: stopNow.signal,
          leaseSeconds: options.leaseSeconds,
          stepSeconds: options.stepSeconds,
          maxRunSeconds: options.maxRunSeconds,
          log,
        });
        ({ next } = end);
        options.onEnd?.(taken.job, end.outcome);
      } catch (error) {
        fault.abort(error);
      }
      taken = next;
      if (taken !== undefined && stop.aborted) {
        await release(client, [taken.job]);
        return;
      }
    }
  };
  const start = (taken: PulledJob): void => {
    const run = runFrom(taken).finally(() => running.delete(run));
    running.add(run);
  };

  try {
    while (!stop.aborted) {
      if (running.size >= concurrency) {
        await Promise.race([...running, stopped]);
        continue;
      }
      const claimId = ids.uuidv7();
      const request = {
        claim_id: claimId,
        limit: concurrency - running.size,
        lease_seconds: options.leaseSeconds,
      };
      const wait = options.waitSeconds ?? WAIT_SECONDS;
      try {
        const { jobs, sentAt } = await client.claimBatch(queue, { ...request, wait, signal: stop });
        for (const job of jobs) start({ job, sentAt });
        if (jobs.length === 0)
          await pause(timer, wait === 0 ? LONG_PAUSE_MS : SHORT_PAUSE_MS, stop);
      } catch (error) {
        if (stop.aborted) {
          await giveUpClaim(client, queue, request);
        } else if (isRefusal(error)) {
          throw error;
        } else {
          log.warn('claim_failed', { queue, code: codeOf(error) });
          await pause(timer, LONG_PAUSE_MS * (0.5 + random.next() / 2), stop);
        }
      }
    }
  } finally {
    await finish(client, running, stopNow, options.graceMs ?? GRACE_MS);
  }
  fault.signal.throwIfAborted();
}

/** The claim that was broken off may have been made: the same one again tells, and what it took goes back. */
async function giveUpClaim(
  client: LeaseholdClient,
  queue: string,
  request: { readonly claim_id: string; readonly limit: number },
): Promise<void> {
  try {
    const { jobs } = await client.claimBatch(queue, { ...request, wait: 0 });
    await release(client, jobs);
  } catch {
    // Then the leases run out by themselves.
  }
}

/** Gives back what was claimed and not begun; a lease for which that fails runs out by itself. */
async function release(client: LeaseholdClient, jobs: readonly LeasedJob[]): Promise<void> {
  await Promise.allSettled(jobs.map((job) => client.release(job, { reason: 'The worker stops.' })));
}

async function finish(
  { ports }: LeaseholdClient,
  running: ReadonlySet<Promise<void>>,
  stopNow: AbortController,
  graceMs: number,
): Promise<void> {
  const done = new AbortController();
  const all = Promise.all(running).then(() => done.abort());
  if (running.size > 0 && (await pause(ports.timer, graceMs, done.signal))) stopNow.abort();
  await all;
}

/** The service says that this worker may not do this, and would say it again. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof LeaseholdApiError &&
    error.status >= 400 &&
    error.status < 500 &&
    !isWorthAnotherTry(error)
  );
}

function codeOf(error: unknown): string {
  return error instanceof LeaseholdApiError ? error.code : 'internal_error';
}

const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
