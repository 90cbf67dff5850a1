import { pause } from './bounded-wait.ts';
import type { Clock, Timer } from './ports.ts';

/** Between two looks: at first half a second, then longer, at most two. */
export const FIRST_POLL_MS = 500;
export const MAX_POLL_MS = 2000;
const POLL_GROWTH = 1.5;

export interface PollOptions {
  /** Local milliseconds; the last look is at this instant. Past: one look. */
  readonly deadlineMs: number;
  /** Whoever asked has gone: no further look. */
  readonly signal?: AbortSignal;
}

/**
 * Looks again and again until there is something to see, the time is up or nobody waits any more. Nothing is held
 * between two looks: no connection, no lock, no row.
 *
 * @param look undefined: not yet
 * @example const job = await pollUntil(ports, { deadlineMs: clock.now() + 20_000 }, () => finished(jobId))
 */
export async function pollUntil<Value>(
  { clock, timer }: { readonly clock: Clock; readonly timer: Timer },
  { deadlineMs, signal }: PollOptions,
  look: () => Promise<Value | undefined>,
): Promise<Value | undefined> {
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(MAX_POLL_MS, pauseMs * POLL_GROWTH)) {
    const seen = await look();
    if (seen !== undefined) return seen;
    const leftMs = deadlineMs - clock.now();
    if (leftMs <= 0) return undefined;
    if (!(await pause(timer, Math.min(pauseMs, leftMs), signal))) return undefined;
  }
}
