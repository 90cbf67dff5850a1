import { expect, test } from 'vitest';

import { weightedOrder } from '../../shared/fairness.ts';
import { seededRandom } from './support/seeded-random.ts';

const ROUNDS = 20_000;

test('S3.6 each queue comes first as often as its weight says', () => {
  const queues = [
    { name: 'a', weight: 1 },
    { name: 'b', weight: 3 },
    { name: 'c', weight: 6 },
  ];
  const random = seededRandom(7);
  const first = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const [name = ''] = weightedOrder(queues, random);
    first.set(name, (first.get(name) ?? 0) + 1);
  }
  for (const { name, weight } of queues) {
    const share = (first.get(name) ?? 0) / ROUNDS;
    expect(Math.abs(share - weight / 10)).toBeLessThan(0.01 * weight);
  }
});

test('S3.6 a queue without work leaves its turns to the others by their weights', () => {
  const queues = [
    { name: 'empty', weight: 8 },
    { name: 'a', weight: 1 },
    { name: 'b', weight: 1 },
  ];
  const random = seededRandom(11);
  let a = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    if (weightedOrder(queues, random).find((name) => name !== 'empty') === 'a') a += 1;
  }
  expect(Math.abs(a / ROUNDS - 0.5)).toBeLessThan(0.02);
});

test('every queue is in the order once, whatever the random source says', () => {
  const queues = Array.from({ length: 10 }, (_, at) => ({ name: String(at), weight: at + 1 }));
  for (const value of [0, 1 - Number.EPSILON / 2, 0.5]) {
    expect(weightedOrder(queues, () => value).toSorted()).toEqual(
      queues.map(({ name }) => name).toSorted(),
    );
  }
});
