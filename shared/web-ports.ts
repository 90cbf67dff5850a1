import { uuidv7 } from 'uuidv7';

import type { Clock, Ids, Random, Timer } from './ports.ts';

/** `setTimeout` overflows past 2^31 - 1 ms, and then fires at once. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/**
 * The ports over what every web runtime has: the only place outside tests and infra/ that reads a clock or a random source.
 */
export const webClock: Clock = { now: () => Date.now() };

export const webRandom: Random = { next: () => Math.random() };

export const webIds: Ids = { uuidv7: () => uuidv7() };

export const webTimer: Timer = {
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(reasonOf(signal));
        return;
      }
      const onAbort = (): void => {
        clearTimeout(timeout);
        if (signal !== undefined) reject(reasonOf(signal));
      };
      const timeout = setTimeout(
        () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
        Math.min(milliseconds, MAX_TIMEOUT_MS),
      );
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
};

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new DOMException('The wait was ended.', 'AbortError');
}
