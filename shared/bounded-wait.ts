import type { Timer } from './ports.ts';

export type WaitOutcome<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'error'; readonly error: unknown }
  /** The time was up first. */
  | { readonly kind: 'timeout' }
  /** The caller's signal fired first. */
  | { readonly kind: 'aborted' };

/**
 * Waits for work, but no longer than a time and no longer than a signal allows; whatever loses is told to stop.
 * Never rejects, so nothing that comes too late becomes an unhandled rejection.
 *
 * @param milliseconds 0 or less: the work still gets a start, and its answer wins only if it is there at once
 * @param work gets a signal that fires when the wait is over for any reason
 * @param signal the caller's own end
 * @example await waitAtMost(timer, 5_000, (signal) => fetch(url, { signal }))
 */
export async function waitAtMost<Value>(
  timer: Timer,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<Value>,
  signal?: AbortSignal,
): Promise<WaitOutcome<Value>> {
  if (signal?.aborted === true) return { kind: 'aborted' };
  const over = new AbortController();
  const end = (): void => over.abort();
  signal?.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([
      settled(work, over.signal),
      timer.sleep(Math.max(0, milliseconds), over.signal).then(
        (): WaitOutcome<Value> => ({ kind: 'timeout' }),
        (): WaitOutcome<Value> => ({ kind: 'aborted' }),
      ),
    ]);
  } finally {
    signal?.removeEventListener('abort', end);
    end();
  }
}

/** Sleeps; true when the time passed, false when the signal ended it. */
export async function pause(
  timer: Timer,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    await timer.sleep(Math.max(0, milliseconds), signal);
    return true;
  } catch {
    return false;
  }
}

async function settled<Value>(
  work: (signal: AbortSignal) => Promise<Value>,
  signal: AbortSignal,
): Promise<WaitOutcome<Value>> {
  try {
    return { kind: 'value', value: await work(signal) };
  } catch (error) {
    return { kind: 'error', error };
  }
}
