/**
 * Why a wake-up on AWS is named after its instant: Scheduler has no compare-and-set, so callers that keep one schedule at
 * the earliest instant read it, compare, and write; between the two another may have written. Requests are interleaved at
 * random, each whole by itself.
 */
import { expect, test } from 'vitest';
import { seededRandom } from '../unit/support/seeded-random.ts';

const ROUNDS = 1000;
const CALLERS = 8;

/** One request after another; undefined: done. */
type Step = (schedules: Map<string, number>) => Step | undefined;

/** Reads the one schedule, and moves it when it is later or not there. */
function moveTo(at: number): Step {
  return (schedules) => {
    const seen = schedules.get('wake');
    if (seen === undefined) return create(at);
    return seen <= at ? undefined : update(at);
  };
}

function create(at: number): Step {
  return (schedules) => {
    if (schedules.has('wake')) return moveTo(at); // 409: somebody was faster
    schedules.set('wake', at);
    return undefined;
  };
}

function update(at: number): Step {
  return (schedules) => {
    if (!schedules.has('wake')) return create(at); // 404: it has deleted itself
    schedules.set('wake', at);
    return undefined;
  };
}

function name(at: number): Step {
  return (schedules) => {
    schedules.set(`wake-${at}`, at); // 409: it is there already
    return undefined;
  };
}

function roundsThatLoseTheEarliest(askFor: (at: number) => Step): number {
  const random = seededRandom(5);
  let lost = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const schedules = new Map<string, number>();
    const wanted = Array.from({ length: CALLERS }, () => 1 + Math.floor(random() * 1000));
    const open: Step[] = wanted.map(askFor);
    while (open.length > 0) {
      const index = Math.floor(random() * open.length);
      const next = open[index]?.(schedules);
      if (next === undefined) open.splice(index, 1);
      else open[index] = next;
    }
    if (Math.min(...schedules.values()) > Math.min(...wanted)) lost += 1;
  }
  return lost;
}

test('S1.16 one schedule that callers move loses the earliest instant; schedules named after it never do', () => {
  expect(roundsThatLoseTheEarliest(name)).toBe(0);
  expect(roundsThatLoseTheEarliest(moveTo)).toBeGreaterThan(ROUNDS / 10);
});
