import { LeaseholdError } from '../errors.ts';
import type { Clock, Random, Timer } from '../ports.ts';
import { isContention } from './classify-error.ts';
import { DatabaseFailure } from './database-failure.ts';
import type { OutageLog } from './outage-log.ts';
import { sqlError } from './sql-error.ts';

/** Tries of one call, the first included. */
export const MAX_TRIES = 5;
/** The first try may have to wake a database: the proxy blocks while it does, for as long as this. */
export const FIRST_TRY_TIMEOUT_MS = 20_000;
export const LATER_TRY_TIMEOUT_MS = 10_000;
/** No try begins later than this after the call did. */
export const RETRY_BUDGET_MS = 30_000;
/** Told to the caller of a call that gave up. */
export const RETRY_AFTER_SECONDS = 5;

/** Pause before try n + 1: anything up to base × 2ⁿ, at most the cap. */
const CONTENTION_PAUSE = { baseMs: 25, capMs: 1_000 };
const OUTAGE_PAUSE = { baseMs: 200, capMs: 5_000 };

export interface RetryPorts {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly random: Random;
  readonly outages: OutageLog;
}

/** One try. Stops when the signal aborts; a failure of the database or of the way there is a `DatabaseFailure`. */
export type Attempt<Result> = (signal: AbortSignal) => Promise<Result>;

/**
 * Runs a statement that is safe to repeat, again after contention and after an unknown outcome, with full jitter, and
 * never after the caller's own abort.
 *
 * @param signal the caller's; when it aborts, the promise rejects with its reason and the outcome is unknown
 * @throws {LeaseholdError} `database_unavailable` with `retryAfterSeconds` after the last try; for a definite failure
 *   at once what `sqlError` makes of it.
 */
export async function withRetry<Result>(
  attempt: Attempt<Result>,
  ports: RetryPorts,
  signal?: AbortSignal,
): Promise<Result> {
  const began = ports.clock.now();
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    const timeoutMs = tries === 1 ? FIRST_TRY_TIMEOUT_MS : LATER_TRY_TIMEOUT_MS;
    const outcome = await runOnce(attempt, ports.timer, timeoutMs, signal);
    if (outcome.ok) {
      ports.outages.succeeded();
      return outcome.result;
    }
    const { failure } = outcome;
    if (failure.kind === 'definite') {
      ports.outages.succeeded(); // It answered.
      throw sqlError(failure);
    }
    const pauseMs = pauseAfter(failure, tries, ports.random);
    const spentMs = ports.clock.now() - began;
    if (tries >= MAX_TRIES || spentMs + pauseMs > RETRY_BUDGET_MS) {
      ports.outages.gaveUp(failure, tries);
      throw unavailable(failure);
    }
    await ports.timer.sleep(pauseMs, signal);
  }
}

type Outcome<Result> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly failure: DatabaseFailure };

/** Ends in time even if the driver ignores its signal. Throws the caller's own abort reason, and faults of the code. */
async function runOnce<Result>(
  attempt: Attempt<Result>,
  timer: Timer,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Outcome<Result>> {
  const stop = new AbortController();
  const finished = new AbortController();
  const onAbort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  timer.sleep(timeoutMs, finished.signal).then(
    () => stop.abort(new DOMException(`No answer within ${timeoutMs} ms`, 'TimeoutError')),
    () => undefined,
  );
  try {
    return {
      ok: true,
      result: await Promise.race([attempt(stop.signal), rejection(stop.signal)]),
    };
  } catch (thrown) {
    signal?.throwIfAborted();
    return { ok: false, failure: asFailure(thrown, stop.signal) };
  } finally {
    finished.abort();
    signal?.removeEventListener('abort', onAbort);
  }
}

function asFailure(thrown: unknown, stop: AbortSignal): DatabaseFailure {
  if (thrown instanceof DatabaseFailure) return thrown;
  if (!stop.aborted) throw thrown;
  return new DatabaseFailure(stop.reason, { abortedByUs: true, redact: (text) => text });
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function pauseAfter(failure: DatabaseFailure, tries: number, random: Random): number {
  const { baseMs, capMs } = isContention(failure.sqlState) ? CONTENTION_PAUSE : OUTAGE_PAUSE;
  return Math.floor(random.next() * Math.min(capMs, baseMs * 2 ** (tries - 1)));
}

function unavailable(failure: DatabaseFailure): LeaseholdError {
  return new LeaseholdError(
    'database_unavailable',
    'The database did not take the statement, or its answer did not come. Try again.',
    {
      cause: failure,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      ...(failure.sqlState === undefined ? {} : { sqlState: failure.sqlState }),
    },
  );
}
