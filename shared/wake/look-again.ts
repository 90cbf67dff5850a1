import { MAX_LOOK_AGAIN_MS, MIN_LOOK_AGAIN_MS } from '../limits.ts';

/**
 * How long a drain leaves due work that it has poked for before it looks again. The work is usually taken long before; when
 * it is not (a poke was lost, a limit of its queue is reached, its worker is gone) the pauses grow with the age of the work,
 * each about as long as all before it. So a lost poke costs a second, and work that nobody takes does not keep the
 * database awake. Nothing is remembered between drains: the age is in the database.
 *
 * @param oldestAgeMs how long the oldest due work has been due
 * @example lookAgainAfterMs(250) // 1000
 */
export function lookAgainAfterMs(oldestAgeMs: number): number {
  return Math.min(Math.max(oldestAgeMs, MIN_LOOK_AGAIN_MS), MAX_LOOK_AGAIN_MS);
}
