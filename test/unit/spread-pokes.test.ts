import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { spreadPokes } from '../../shared/spread-pokes.ts';
import type { WaitingQueue } from '../../shared/spread-pokes.ts';

function queue(name: string, due: number, weight = 1): WaitingQueue {
  return { queue: name, due, weight };
}

function count(pokes: readonly string[], name: string): number {
  return pokes.filter((poke) => poke === name).length;
}

test('each queue gets one before any gets a second', () => {
  const queues = [queue('deep', 1000), queue('one', 1), queue('two', 2)];
  expect(spreadPokes(queues, 6, 0)).toEqual(['deep', 'one', 'two', 'deep', 'two', 'deep']);
});

test('never more than the limit, and never more than is due', () => {
  const many = Array.from({ length: 200 }, (_, at) => queue(`q${at}`, 50));
  expect(spreadPokes(many, 32, 0)).toHaveLength(32);
  expect(spreadPokes([queue('a', 2)], 32, 0.5)).toEqual(['a', 'a']);
  expect(spreadPokes([queue('a', 0)], 32, 0)).toEqual([]);
  expect(spreadPokes([], 32, 0.9)).toEqual([]);
});

describe('S1.15 a queue gets its weight', () => {
  test('of one pass, rounded down or up', () => {
    const pokes = spreadPokes([queue('a', 99, 5), queue('b', 99, 2), queue('c', 99, 1)], 32, 0.3);
    expect(['a', 'b', 'c'].map((name) => count(pokes, name))).toEqual([20, 8, 4]);
  });

  test('over many passes exactly, with more queues than places', () => {
    const flood = queue('flood', 100_000);
    const small = Array.from({ length: 49 }, (_, at) => queue(`small ${at}`, 5));
    const passes = 1000;
    const all = Array.from({ length: passes }, (_, at) =>
      spreadPokes([flood, ...small, queue('heavy', 50, 10)], 32, (at * 0.618034) % 1),
    ).flat();
    const share = (32 * passes) / 60;
    for (const name of ['flood', 'small 0', 'small 48']) {
      expect(count(all, name) / share).toBeGreaterThan(0.97);
      expect(count(all, name) / share).toBeLessThan(1.03);
    }
    expect(count(all, 'heavy') / share / 10).toBeGreaterThan(0.97);
  });

  test('what one cannot use goes to the others', () => {
    const pokes = spreadPokes([queue('flood', 100_000), queue('little', 3, 100)], 32, 0.5);
    expect([count(pokes, 'flood'), count(pokes, 'little')]).toEqual([29, 3]);
  });

  test('whatever the queues: no place is left empty while work waits, and shares are kept', () => {
    const queues = fc.array(
      fc.record({ due: fc.integer({ min: 0, max: 40 }), weight: fc.integer({ min: 1, max: 100 }) }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(
        queues,
        fc.integer({ min: 0, max: 64 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (shapes, limit, start) => {
          const named = shapes.map((shape, at) => ({ ...shape, queue: `q${at}` }));
          const pokes = spreadPokes(named, limit, start);
          const due = named.reduce((sum, one) => sum + one.due, 0);
          const weights = named.reduce((sum, one) => sum + (one.due > 0 ? one.weight : 0), 0);
          expect(pokes).toHaveLength(Math.min(limit, due));
          const wrong = named.filter((one) => {
            const got = count(pokes, one.queue);
            const share = Math.floor((limit * one.weight) / weights - 1e-9);
            return got > one.due || got < Math.min(one.due, share);
          });
          expect(wrong).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });
});
