import { uuidv7 } from 'uuidv7';
import { expect, test } from 'vitest';

import { derivedId, derivedIds } from '../../shared/derived-ids.ts';

const AT = new Date('2026-11-30T08:00:00.123Z');
const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function timeOf(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}

test('case D7 the same seed and time give the same ids in the same order', () => {
  const seed = uuidv7();
  const first = derivedIds(seed, AT);
  const again = derivedIds(seed.toUpperCase(), AT);
  const ids = Array.from({ length: 1000 }, () => first.uuidv7());
  expect(Array.from({ length: 1000 }, () => again.uuidv7())).toEqual(ids);
  expect(new Set(ids).size).toBe(1000);
  expect(ids.toSorted()).toEqual(ids);
});

test('each is a UUID of version 7 at the given time, whatever the seed', () => {
  for (const seed of [uuidv7(), crypto.randomUUID(), '00000000-0000-0000-0000-000000000000']) {
    const id = derivedIds(seed, AT).uuidv7();
    expect(id).toMatch(V7);
    expect(timeOf(id)).toBe(AT.getTime());
  }
});

test('two requests never share an id', () => {
  const ids = [uuidv7(), uuidv7()].flatMap((seed) => {
    const made = derivedIds(seed, AT);
    return Array.from({ length: 100 }, () => made.uuidv7());
  });
  expect(new Set(ids).size).toBe(200);
});

test('the counter of a millisecond goes over into the next one', () => {
  const seed = uuidv7();
  expect(timeOf(derivedId(seed, AT.getTime(), 4095))).toBe(AT.getTime());
  expect(timeOf(derivedId(seed, AT.getTime(), 4096))).toBe(AT.getTime() + 1);
  expect(derivedId(seed, AT.getTime(), 4096) > derivedId(seed, AT.getTime(), 4095)).toBe(true);
});
