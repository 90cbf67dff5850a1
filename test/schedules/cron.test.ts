import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { CRON_RULE, ZONE_RULE, cronProblem, slotTimes, zoneProblem } from '../../shared/cron.ts';

const NOW = Date.UTC(2026, 10, 30);
/** Far above what any search takes, far below what a tick could bear. */
const SEARCH_BOUND_MS = 1000;

describe('case H3 what is refused when a schedule is made', () => {
  test.each(['0 0 30 2 *', '0 0 31 4 *', '0 0 31 2,4,6,9,11 *', '0 0 30 FEB *', '* * 31W 4 *'])(
    '%s never fires',
    (expression) => {
      const started = performance.now();
      expect(cronProblem(expression)).toBe('must fire at some time: no year has such a day');
      expect(performance.now() - started).toBeLessThan(SEARCH_BOUND_MS);
    },
  );

  test.each([
    ['60 * * * *', 'minute'],
    ['* 24 * * *', 'hour'],
    ['* * 32 * *', 'day of month'],
    ['* * 0 * *', 'day of month'],
    ['* * * 13 *', 'month'],
    ['* * * * 8', 'day of week'],
    ['*/0 * * * *', 'minute'],
    ['10-5 * * * *', 'minute'],
    ['1,,2 * * * *', 'minute'],
    ['-1 * * * *', 'minute'],
    ['? * * * *', 'minute'],
    ['* * * * +1', 'day of week'],
    ['* 5/5 * * *', 'hour'],
    ['* * * * SUNDAY', 'day of week'],
  ])('%s has a wrong %s', (expression, field) => {
    expect(cronProblem(expression)).toMatch(new RegExp(`^has a wrong ${field}: it takes `));
  });

  test('six fields, and the answer says why', () => {
    expect(cronProblem('0 0 2 * * *')).toBe(
      `${CRON_RULE}; a field for seconds or years is not taken`,
    );
  });

  test.each(['@reboot', ' @REBOOT '])('%s, and the answer says why', (expression) => {
    expect(cronProblem(expression)).toMatch(/^cannot be "@reboot": functions have no start/);
  });

  test.each(['', ' ', '* * * *', '@every 5m', '@fortnightly', '2026-11-30T00:00:00'])(
    '%j is no expression',
    (expression) => {
      expect(cronProblem(expression)).toBe(CRON_RULE);
    },
  );

  test('an expression too long to be meant', () => {
    expect(cronProblem(`${'1,'.repeat(200)}1 * * * *`)).toBe(CRON_RULE);
  });

  test.each(['EST5', 'Mars/Base', '+05:00', 'GMT+5', '', ' UTC', 'Z', 'Europe/', '../UTC'])(
    'zone %j',
    (zone) => {
      expect(zoneProblem(zone)).toBe(ZONE_RULE);
    },
  );

  test('nothing that was refused gives times', () => {
    expect(() => slotTimes('0 0 30 2 *', 'UTC')).toThrow(RangeError);
    expect(() => slotTimes('0 0 * * *', 'EST5')).toThrow(RangeError);
  });
});

describe('case H3 what is accepted', () => {
  test('29 February, and the next one is in a leap year', () => {
    expect(cronProblem('0 0 29 2 *')).toBeUndefined();
    expect(at('0 0 29 2 *', 'UTC', NOW)).toBe('2028-02-29T00:00:00.000Z');
    expect(at('0 0 29 2 *', 'UTC', Date.UTC(2096, 1, 29))).toBe('2104-02-29T00:00:00.000Z');
  });

  test.each(['UTC', 'Europe/Oslo', 'America/Argentina/Ushuaia', 'Etc/GMT+5', 'Asia/Calcutta'])(
    'zone %s',
    (zone) => {
      expect(zoneProblem(zone)).toBeUndefined();
    },
  );

  test.each([
    ['@hourly', '2026-11-30T01:00:00.000Z'],
    ['@daily', '2026-12-01T00:00:00.000Z'],
    ['@midnight', '2026-12-01T00:00:00.000Z'],
    ['@weekly', '2026-12-06T00:00:00.000Z'],
    ['@monthly', '2026-12-01T00:00:00.000Z'],
    ['@yearly', '2027-01-01T00:00:00.000Z'],
    ['@annually', '2027-01-01T00:00:00.000Z'],
    ['  5   4\t* * *  ', '2026-11-30T04:05:00.000Z'],
    ['0 9 * jan-feb MON', '2027-01-04T09:00:00.000Z'],
    ['0 9 * * 7', '2026-12-06T09:00:00.000Z'],
    ['0 9 L * *', '2026-11-30T09:00:00.000Z'],
    ['0 9 * * FRI#2', '2026-12-11T09:00:00.000Z'],
  ])('%s', (expression, next) => {
    expect(cronProblem(expression)).toBeUndefined();
    expect(at(expression, 'UTC', NOW)).toBe(next);
  });

  test('two day fields: a day that fits either', () => {
    expect(at('0 0 13 * FRI', 'UTC', NOW)).toBe('2026-12-04T00:00:00.000Z');
  });
});

test('case H3 no expression of any kind takes long, and what is accepted fires', () => {
  let slowestMs = 0;
  fc.assert(
    fc.property(fields(), fc.constantFrom('UTC', 'America/New_York'), (expression, zone) => {
      const before = performance.now();
      const accepted = cronProblem(expression) === undefined;
      const next = accepted ? slotTimes(expression, zone).nextAfter(NOW) : NOW + 60_000;
      slowestMs = Math.max(slowestMs, performance.now() - before);
      return next !== null && next > NOW && next % 60_000 === 0;
    }),
    { numRuns: 300 },
  );
  expect(slowestMs).toBeLessThan(SEARCH_BOUND_MS);
});

describe('slots between two instants', () => {
  const times = slotTimes('*/10 * * * *', 'UTC');

  test('the first is left out, the last is in, milliseconds do not matter', () => {
    expect(iso(times.between(NOW, NOW + 20 * 60_000, 10))).toEqual([
      '2026-11-30T00:10:00.000Z',
      '2026-11-30T00:20:00.000Z',
    ]);
    expect(times.between(NOW + 1, NOW + 10 * 60_000 - 1, 10)).toEqual([]);
    expect(times.between(NOW - 1, NOW, 10)).toEqual([NOW]);
    expect(times.between(NOW, NOW, 10)).toEqual([]);
  });

  test('the newest are kept, and three years cost no more than an hour', () => {
    const started = performance.now();
    const newest = slotTimes('* * * * *', 'Europe/Oslo').between(
      NOW - 3 * 366 * 24 * 3600_000,
      NOW,
      3,
    );
    expect(newest).toEqual([NOW - 120_000, NOW - 60_000, NOW]);
    expect(performance.now() - started).toBeLessThan(SEARCH_BOUND_MS);
  });
});

function at(expression: string, zone: string, after: number): string | undefined {
  return iso([slotTimes(expression, zone).nextAfter(after) ?? 0])[0];
}

function iso(slots: readonly number[]): string[] {
  return slots.map((slot) => new Date(slot).toISOString());
}

/** Mostly well-formed fields, with numbers around the edges. */
function fields(): fc.Arbitrary<string> {
  const number = fc.integer({ min: 0, max: 61 }).map(String);
  const part = fc.oneof(
    fc.constant('*'),
    number,
    fc.tuple(number, number).map(([low, high]) => `${low}-${high}`),
    number.map((step) => `*/${step}`),
    fc.array(number, { minLength: 1, maxLength: 4 }).map((list) => list.join(',')),
    fc.constantFrom('L', 'FEB', 'MON', 'MON#5', '15W', 'LW', '#', '/', '-'),
  );
  return fc.array(part, { minLength: 5, maxLength: 5 }).map((list) => list.join(' '));
}
