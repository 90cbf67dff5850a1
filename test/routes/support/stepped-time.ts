import { webClock } from '../../../functions/web-ports.ts';
import type { Clock, Timer } from '../../../shared/ports.ts';

export interface Pause {
  readonly milliseconds: number;
  /** Lets the time of the pause have passed. */
  end(): void;
}

/** Time in which the code under test pauses only as long as the test wants: nothing waits for real. */
export interface SteppedTime {
  readonly clock: Clock;
  readonly timer: Timer;
  /** The next pause that begins, or has begun and was not asked for yet. */
  nextPause(): Promise<Pause>;
}

export function createSteppedTime(): SteppedTime {
  let passedMs = 0;
  const begun: Pause[] = [];
  const waiting: ((pause: Pause) => void)[] = [];
  const begin = (pause: Pause): void => {
    const next = waiting.shift();
    if (next === undefined) begun.push(pause);
    else next(pause);
  };
  return {
    clock: { now: () => webClock.now() + passedMs },
    timer: {
      sleep: (milliseconds, signal) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted === true) return reject(new Error('aborted'));
          signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
          begin({
            milliseconds,
            end: () => {
              passedMs += milliseconds;
              resolve();
            },
          });
          return undefined;
        }),
    },
    nextPause: () => {
      const next = begun.shift();
      return next === undefined
        ? new Promise((resolve) => waiting.push(resolve))
        : Promise.resolve(next);
    },
  };
}
