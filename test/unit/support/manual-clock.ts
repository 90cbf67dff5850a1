import type { Clock, Timer } from '../../../shared/ports.ts';

interface Sleeper {
  readonly wakeAt: number;
  readonly wake: () => void;
}

/**
 * A clock that stands still until a test moves it, and the timer that goes with it. Nothing here waits for real time.
 *
 * @example
 * const time = new ManualClock();
 * const slept = time.timer.sleep(500);
 * await time.advance(500);
 * await slept;
 */
export class ManualClock implements Clock {
  #now: number;
  readonly #sleepers = new Set<Sleeper>();

  constructor(start = Date.UTC(2030, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  readonly timer: Timer = {
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        const abort = (): void => {
          this.#sleepers.delete(sleeper);
          reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
        };
        const sleeper: Sleeper = {
          wakeAt: this.#now + milliseconds,
          wake: () => {
            signal?.removeEventListener('abort', abort);
            resolve();
          },
        };
        if (signal?.aborted === true) return abort();
        signal?.addEventListener('abort', abort, { once: true });
        this.#sleepers.add(sleeper);
        return undefined;
      }),
  };

  /** Moves the clock without letting anything run: what a handler that burns CPU does to the world. */
  jump(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** Moves the clock in order of the sleepers, and lets everything that follows from each wake-up happen. */
  async advance(milliseconds: number): Promise<void> {
    const until = this.#now + milliseconds;
    await settle();
    for (;;) {
      const next = this.#nextDue(until);
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.wakeAt);
      this.#sleepers.delete(next);
      next.wake();
      await settle();
    }
    this.#now = until;
    await settle();
  }

  /** How many sleeps are pending: none may be left behind. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  #nextDue(until: number): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (sleeper.wakeAt <= until && (next === undefined || sleeper.wakeAt < next.wakeAt)) {
        next = sleeper;
      }
    }
    return next;
  }
}

/** Lets all pending promise jobs run, those that they start included. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
