import { expect, test } from 'vitest';

import { slotJobId } from '../../shared/slot-job-id.ts';

const SLOT = Date.UTC(2026, 10, 30, 12);
const HOUR_MS = 3600_000;
const input = { schedule: 'nightly', slot: SLOT, now: SLOT + 1000, round: 0 };

test('case H5 the id of a slot is a UUID version 7 that carries the time of the slot', async () => {
  const id = await slotJobId(input);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(timeOf(id)).toBe(SLOT);
});

test('case H5 two ticks work out the same id, whenever they come within a day', async () => {
  expect(await slotJobId({ ...input, now: SLOT + 22 * HOUR_MS })).toBe(await slotJobId(input));
});

test('another schedule, slot or round has another id', async () => {
  const others = [
    input,
    { ...input, schedule: 'nightly2' },
    { ...input, slot: SLOT + 60_000 },
    { ...input, round: 1 },
  ];
  const random = await Promise.all(others.map(async (one) => (await slotJobId(one)).slice(14)));
  expect(new Set(random).size).toBe(others.length);
});

test('a slot older than the day window carries the present, as the database asks for', async () => {
  const now = SLOT + 72 * HOUR_MS + 7;
  expect(timeOf(await slotJobId({ ...input, now }))).toBe(now);
});

function timeOf(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}
