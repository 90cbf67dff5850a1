import { beforeEach, expect, test } from 'vitest';

import { createHeldPoker } from '../../functions/wake/held-poker.ts';
import type { PokesInFlight } from '../../functions/wake/held-poker.ts';
import {
  MAX_POKES_IN_FLIGHT,
  MAX_POKES_IN_FLIGHT_PER_QUEUE,
  POKE_TIMEOUT_MS,
} from '../../shared/limits.ts';
import type { PokeOutcome, Poker } from '../../shared/ports.ts';
import { ManualClock } from '../unit/support/manual-clock.ts';

let time: ManualClock;
let inFlight: PokesInFlight;
/** Ends of the pokes on their way. */
let ends: PromiseWithResolvers<PokeOutcome>[];
let poker: Poker;

beforeEach(() => {
  time = new ManualClock();
  inFlight = new Set();
  ends = [];
  poker = createHeldPoker(
    {
      send: async () => {
        const end = Promise.withResolvers<PokeOutcome>();
        ends.push(end);
        return await end.promise;
      },
    },
    { clock: time, inFlight },
  );
});

function sendMany(queue: string, count: number): Promise<PokeOutcome>[] {
  return Array.from({ length: count }, () => poker.send({ queue, depth: 0 }));
}

test('so many pokes are on their way, and no more; a place that is free again is taken', async () => {
  void sendMany('a', MAX_POKES_IN_FLIGHT_PER_QUEUE);
  void sendMany('b', MAX_POKES_IN_FLIGHT - MAX_POKES_IN_FLIGHT_PER_QUEUE);
  expect(ends).toHaveLength(MAX_POKES_IN_FLIGHT);
  expect(await poker.send({ queue: 'c', depth: 0 })).toBe('held');
  ends[0]?.resolve('taken');
  await time.advance(0);
  void poker.send({ queue: 'c', depth: 0 });
  expect(ends).toHaveLength(MAX_POKES_IN_FLIGHT + 1);
});

test('one queue does not take all places', async () => {
  void sendMany('a', MAX_POKES_IN_FLIGHT_PER_QUEUE);
  expect(await poker.send({ queue: 'a', depth: 0 })).toBe('held');
  void poker.send({ queue: 'b', depth: 0 });
  expect(ends).toHaveLength(MAX_POKES_IN_FLIGHT_PER_QUEUE + 1);
});

test('the outcome is handed on, and a poke that fails gives its place back too', async () => {
  const [taken, failing] = sendMany('a', 2);
  ends[0]?.resolve('idle');
  ends[1]?.reject(new Error('no way'));
  expect(await taken).toBe('idle');
  await expect(failing).rejects.toThrow('no way');
  expect(inFlight.size).toBe(0);
});

test('a poke whose request was cut off counts no longer than a poke can take', async () => {
  void sendMany('a', MAX_POKES_IN_FLIGHT_PER_QUEUE);
  time.jump(POKE_TIMEOUT_MS);
  expect(await poker.send({ queue: 'a', depth: 0 })).toBe('held');
  time.jump(1);
  void poker.send({ queue: 'a', depth: 0 });
  expect(inFlight.size).toBe(1);
});
