import { describe, expect, test } from 'vitest';

import { slotTimes } from '../../shared/cron.ts';
import { slotsToFire } from '../../shared/schedule-slots.ts';
import { slotsOnTheWall } from './support/wall-clock.ts';
import type { PlainTimes } from './support/wall-clock.ts';

const HOUR_MS = 3600_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * HOUR_MS;

/** Clocks go forward at 2:00 on 8 March, and back at 2:00 on 1 November. */
const NEW_YORK = 'America/New_York';
/** By half an hour: back at 2:00 on 5 April, forward at 2:00 on 4 October. */
const LORD_HOWE = 'Australia/Lord_Howe';

describe('case H1 a daily schedule fires exactly once a local day', () => {
  test.each([
    ['30 2 * * *', NEW_YORK, '2026-03-07', ['03-07 02:30', '03-08 03:00', '03-09 02:30']],
    ['30 1 * * *', NEW_YORK, '2026-03-07', ['03-07 01:30', '03-08 01:30', '03-09 01:30']],
    ['30 2 * * *', NEW_YORK, '2026-10-31', ['10-31 02:30', '11-01 02:30', '11-02 02:30']],
    ['30 1 * * *', NEW_YORK, '2026-10-31', ['10-31 01:30', '11-01 01:30', '11-02 01:30']],
    ['15 2 * * *', LORD_HOWE, '2026-10-03', ['10-03 02:15', '10-04 02:30', '10-05 02:15']],
    ['45 1 * * *', LORD_HOWE, '2026-04-04', ['04-04 01:45', '04-05 01:45', '04-06 01:45']],
    ['0 0 * * *', 'Africa/Cairo', '2026-04-23', ['04-23 00:00', '04-24 01:00', '04-25 00:00']],
    ['@daily', 'Africa/Cairo', '2026-10-29', ['10-29 00:00', '10-30 00:00', '10-31 00:00']],
  ])('%s %s from %s', (expression, zone, day, wanted) => {
    const from = slotTimes('0 0 * * *', zone).nextAfter(Date.parse(`${day}T00:00Z`) - 16 * HOUR_MS);
    const slots = following(expression, zone, (from ?? 0) - 1, 3);
    expect(slots.map((slot) => wallOf(slot, zone))).toEqual(wanted);
  });

  test('the repeated half past one is the first of the two', () => {
    const [, change] = following('30 1 * * *', NEW_YORK, Date.UTC(2026, 9, 31, 4), 2);
    expect(new Date(change ?? 0).toISOString()).toBe('2026-11-01T05:30:00.000Z');
  });

  test('two times of a day that fall together at the end of the gap are one slot', () => {
    const slots = following('0,30 2,3 * * *', NEW_YORK, Date.UTC(2026, 2, 8, 5), 3);
    expect(slots.map((slot) => wallOf(slot, NEW_YORK))).toEqual([
      '03-08 03:00',
      '03-08 03:30',
      '03-09 02:00',
    ]);
  });
});

describe('case H1 an interval schedule fires every real interval', () => {
  test.each([
    ['*/30 * * * *', NEW_YORK, '2026-03-08T00:00Z', 30],
    ['*/30 * * * *', NEW_YORK, '2026-11-01T00:00Z', 30],
    ['*/30 * * * *', LORD_HOWE, '2026-04-04T06:00Z', 30],
    ['*/30 * * * *', LORD_HOWE, '2026-10-03T06:00Z', 30],
    ['0 * * * *', NEW_YORK, '2026-11-01T00:00Z', 60],
    ['0 0-23 * * *', NEW_YORK, '2026-11-01T00:00Z', 60],
    ['* * * * *', 'Africa/Cairo', '2026-10-29T12:00Z', 1],
  ])('%s %s from %s', (expression, zone, from, minutes) => {
    const slots = following(expression, zone, Date.parse(from), (DAY_MS / MINUTE_MS / minutes) * 2);
    const gaps = new Set(slots.slice(1).map((slot, at) => (slot - (slots[at] ?? 0)) / MINUTE_MS));
    expect([...gaps]).toEqual([minutes]);
  });
});

describe('case H1 a tick that comes two hours late across the change', () => {
  /** The tick before stood at `from`; this one finds everything since. */
  function late(expression: string, zone: string, from: string): string[] {
    const decidedUntil = Date.parse(from);
    const { slots, dropped } = slotsToFire(slotTimes(expression, zone), {
      decidedUntil,
      now: decidedUntil + 2 * HOUR_MS,
      missed: 'all',
      missedLimit: 100,
    });
    expect(dropped).toBe(false);
    return slots.map((slot) => wallOf(slot, zone));
  }

  test('the daily slot of the gap is made up for, once', () => {
    expect(late('30 2 * * *', NEW_YORK, '2026-03-08T06:59Z')).toEqual(['03-08 03:00']);
    expect(late('30 2 * * *', NEW_YORK, '2026-03-08T07:00Z')).toEqual([]);
    expect(late('15 2 * * *', LORD_HOWE, '2026-10-03T15:00Z')).toEqual(['10-04 02:30']);
  });

  test('the daily slot of the repeated hour is made up for, once', () => {
    expect(late('30 1 * * *', NEW_YORK, '2026-11-01T05:29Z')).toEqual(['11-01 01:30']);
    expect(late('30 1 * * *', NEW_YORK, '2026-11-01T05:30Z')).toEqual([]);
    expect(late('45 1 * * *', LORD_HOWE, '2026-04-04T14:44Z')).toEqual(['04-05 01:45']);
    expect(late('45 1 * * *', LORD_HOWE, '2026-04-04T14:45Z')).toEqual([]);
  });

  test('the interval has as many slots as two real hours hold', () => {
    expect(late('*/30 * * * *', NEW_YORK, '2026-03-08T06:00Z')).toHaveLength(4);
    expect(late('*/30 * * * *', NEW_YORK, '2026-11-01T05:00Z')).toEqual([
      '11-01 01:30',
      '11-01 01:00',
      '11-01 01:30',
      '11-01 02:00',
    ]);
    expect(late('*/30 * * * *', LORD_HOWE, '2026-04-04T14:00Z')).toHaveLength(4);
  });
});

describe('case H1 the library against the wall clock, minute by minute', () => {
  const changes: readonly (readonly [zone: string, from: string])[] = [
    [NEW_YORK, '2026-03-07T00:00Z'],
    [NEW_YORK, '2026-10-31T00:00Z'],
    [LORD_HOWE, '2026-04-03T12:00Z'],
    [LORD_HOWE, '2026-10-02T12:00Z'],
    ['Africa/Cairo', '2026-04-23T00:00Z'],
    ['Africa/Cairo', '2026-10-29T00:00Z'],
    ['America/Sao_Paulo', '2018-11-03T00:00Z'],
    ['Antarctica/Troll', '2026-03-28T00:00Z'],
    ['Antarctica/Troll', '2026-10-24T00:00Z'],
    ['Europe/Dublin', '2026-10-24T00:00Z'],
  ];
  const expressions: readonly (readonly [expression: string, times: PlainTimes])[] = [
    ['30 2 * * *', { minutes: [30], hours: [2], fixed: true }],
    ['0 0 * * *', { minutes: [0], hours: [0], fixed: true }],
    ['15,45 1-3 * * *', { minutes: [15, 45], hours: [1, 2, 3], fixed: true }],
    ['0 * * * *', { minutes: [0], hours: range(24), fixed: false }],
    ['*/20 1 * * *', { minutes: [0, 20, 40], hours: [1], fixed: false }],
    ['30 */2 * * *', { minutes: [30], hours: range(12).map((hour) => hour * 2), fixed: false }],
    ['59 23 * * *', { minutes: [59], hours: [23], fixed: true }],
  ];

  const cases = changes.flatMap(([zone, from]) =>
    expressions.map(([expression, times]) => ({ expression, zone, from, times })),
  );

  test.each(cases)(
    '$expression $zone from $from',
    ({ expression, zone, from: fromText, times }) => {
      const from = Date.parse(fromText);
      const until = from + 3 * DAY_MS;
      const wanted = slotsOnTheWall(times, zone, from, until);
      const found = slotTimes(expression, zone);
      const forward: number[] = [];
      for (let slot = found.nextAfter(from - 1); slot !== null && slot < until;) {
        forward.push(slot);
        slot = found.nextAfter(slot);
      }
      expect(forward).toEqual(wanted);
      expect(found.between(from - 1, until - 1, 10_000)).toEqual(wanted);
      // The answer is the same from wherever the search starts.
      for (let at = from; at < until - DAY_MS; at += 13 * MINUTE_MS + 1) {
        expect(found.nextAfter(at)).toBe(wanted.find((slot) => slot > at));
      }
    },
  );
});

function following(expression: string, zone: string, after: number, count: number): number[] {
  const times = slotTimes(expression, zone);
  const slots: number[] = [];
  for (let slot = times.nextAfter(after); slot !== null && slots.length < count;) {
    slots.push(slot);
    slot = times.nextAfter(slot);
  }
  return slots;
}

function wallOf(slot: number, zone: string): string {
  const text = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).format(slot);
  return text.replace(', ', ' ');
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}
