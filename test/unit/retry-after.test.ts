import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { parseRetryAfter } from '../../shared/retry-after.ts';

const NOW = Date.parse('2026-11-30T08:49:37.000Z');

describe('case J3 Retry-After', () => {
  test.each([
    ['seconds', '2', 2],
    ['zero', '0', 0],
    ['a day', '86400', 86_400],
    ['white space around', ' 120 ', 120],
    ['an IMF date 120 s ahead', 'Mon, 30 Nov 2026 08:51:37 GMT', 120],
    ['an RFC 850 date', 'Monday, 30-Nov-26 08:51:37 GMT', 120],
    ['an asctime date', 'Mon Nov 30 08:51:37 2026', 120],
    ['an asctime date with one digit', 'Tue Dec  1 08:49:37 2026', 86_400],
    ['a leap second', 'Mon, 30 Nov 2026 08:49:60 GMT', 23],
    ['a past date', 'Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['a past RFC 850 date of the century before', 'Sunday, 06-Nov-94 08:49:37 GMT', 0],
  ])('%s', (_name, header, seconds) => {
    expect(parseRetryAfter(header, NOW)).toBe(seconds);
  });

  test.each([
    ['none', null],
    ['empty', ''],
    ['text', 'soon'],
    ['a negative number', '-5'],
    ['a fraction', '1.5'],
    ['hexadecimal', '0x10'],
    ['a unit', '5s'],
    ['more digits than any clock', '9'.repeat(40)],
    ['two headers with seconds', '2, 120'],
    ['two headers with dates', 'Mon, 30 Nov 2026 08:51:37 GMT, Mon, 30 Nov 2026 08:52:37 GMT'],
    ['an ISO date', '2026-11-30T08:51:37Z'],
    ['a date that is not there', 'Mon, 31 Nov 2026 08:51:37 GMT'],
    ['an hour that is not there', 'Mon, 30 Nov 2026 24:51:37 GMT'],
    ['a month that is not there', 'Mon, 30 Foo 2026 08:51:37 GMT'],
    ['another zone', 'Mon, 30 Nov 2026 08:51:37 CET'],
    ['NaN', 'NaN'],
    ['Infinity', 'Infinity'],
  ])('%s says nothing', (_name, header) => {
    expect(parseRetryAfter(header, NOW)).toBeUndefined();
  });

  test('two header lines come joined, and say nothing', () => {
    const headers = new Headers([
      ['retry-after', '2'],
      ['retry-after', '120'],
    ]);
    expect(parseRetryAfter(headers.get('retry-after'), NOW)).toBeUndefined();
  });

  test('a two-digit year is the nearest, at most 50 years ahead', () => {
    const years = (seconds: number | undefined): number => (seconds ?? 0) / (365.25 * 86_400);
    expect(years(parseRetryAfter('Monday, 30-Nov-76 08:49:37 GMT', NOW))).toBeCloseTo(50, 1);
    expect(parseRetryAfter('Tuesday, 30-Nov-77 08:49:37 GMT', NOW)).toBe(0);
    const atCenturysEnd = Date.parse('2099-12-31T23:59:00Z');
    expect(parseRetryAfter('Friday, 01-Jan-00 00:00:00 GMT', atCenturysEnd)).toBe(60);
  });

  test('whatever a header holds, the answer is a whole number of seconds or nothing', () => {
    const pieces = fc.constantFrom('Mon', ', ', '30', ' ', 'Nov', '2026', '08:51:37', ' GMT', '-');
    const header = fc.oneof(
      fc.string(),
      fc.array(pieces).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(header, (text) => {
        const seconds = parseRetryAfter(text, NOW) ?? 0;
        expect(Number.isInteger(seconds) && seconds >= 0).toBe(true);
      }),
    );
  });

  test('every date of the next years is read to the second', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 300_000_000 }), (seconds) => {
        expect(parseRetryAfter(new Date(NOW + seconds * 1000).toUTCString(), NOW)).toBe(seconds);
      }),
    );
  });
});
