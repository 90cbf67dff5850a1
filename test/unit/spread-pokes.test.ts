import { expect, test } from 'vitest';

import { spreadPokes } from '../../shared/spread-pokes.ts';

test('each queue gets one before any gets a second', () => {
  const queues = [
    { queue: 'deep', due: 1000 },
    { queue: 'one', due: 1 },
    { queue: 'two', due: 2 },
  ];
  expect(spreadPokes(queues, 6)).toEqual(['deep', 'one', 'two', 'deep', 'two', 'deep']);
});

test('never more than the limit, and never more than is due', () => {
  const many = Array.from({ length: 200 }, (_, at) => ({ queue: `q${at}`, due: 50 }));
  expect(spreadPokes(many, 32)).toEqual(many.slice(0, 32).map(({ queue }) => queue));
  expect(spreadPokes([{ queue: 'a', due: 2 }], 32)).toEqual(['a', 'a']);
  expect(spreadPokes([], 32)).toEqual([]);
});
