import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Timer } from '../../../shared/ports.ts';

export interface VirtualTime {
  readonly clock: Clock;
  readonly timer: Timer;
  /** How many sleeps have neither ended nor been aborted. */
  readonly sleeping: number;
  /** Lets time pass, from one sleeper to the next, until the promise settles. For code that does no real I/O. */
  runUntil<Result>(promise: Promise<Result>): Promise<Result>;
}

/** A clock and a timer that take no time: hours pass in milliseconds, and every run passes them alike. */
export function createVirtualTime(): VirtualTime {
  interface Sleeper {
    readonly dueMs: number;
    readonly wake: () => void;
  }
  let nowMs = 1_700_000_000_000;
  let sleepers: Sleeper[] = [];
  const timer: Timer = {
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error);
        const sleeper = { dueMs: nowMs + milliseconds, wake: resolve };
        sleepers.push(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          reject(signal.reason as Error);
        });
      }),
  };
  return {
    clock: { now: () => nowMs },
    timer,
    get sleeping() {
      return sleepers.length;
    },
    runUntil: async (promise) => {
      let settled = false;
      const settle = (): void => void (settled = true);
      promise.then(settle, settle);
      for (;;) {
        await turn();
        if (settled) return promise;
        const next = sleepers.toSorted((left, right) => left.dueMs - right.dueMs)[0];
        if (next === undefined) continue; // the promise waits for something else
        sleepers = sleepers.filter((other) => other !== next);
        nowMs = Math.max(nowMs, next.dueMs);
        next.wake();
      }
    },
  };
}
