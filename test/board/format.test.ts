import { describe, expect, test } from 'vitest';
import {
  clockTime,
  counted,
  duration,
  localInput,
  plural,
  pretty,
  relative,
  span,
  wholeNumber,
  words,
} from '../../functions/board/client/format.ts';

const NOW = Date.parse('2030-05-17T12:00:00Z');
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();

describe('times on the board', () => {
  test.each([
    [-5, '0s'],
    [0, '0s'],
    [59.9, '59s'],
    [60, '1m'],
    [75, '1m 15s'],
    [600, '10m'],
    [3599, '59m'],
    [18_720, '5h 12m'],
    [7200, '2h'],
    [273_600, '3d 4h'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(span(seconds)).toBe(text);
  });

  test('are told from now on, both ways', () => {
    expect(relative(ago(75), NOW)).toBe('1m 15s ago');
    expect(relative(ago(-300), NOW)).toBe('in 5m');
    expect(relative(ago(0.4), NOW)).toBe('now');
  });

  test('of an attempt have the unit that fits', () => {
    expect(duration(ago(0.24), ago(0))).toBe('240 ms');
    expect(duration(ago(3.4), ago(0))).toBe('3.4 s');
    expect(duration(ago(100), ago(0))).toBe('1m 40s');
    expect(duration(ago(0), ago(5))).toBe('0 ms');
  });

  test('of another day carry the day, of another year the year', () => {
    const local = (text: string): number => new Date(text).getTime();
    const now = local('2030-05-17T14:03:22');
    const at = (text: string): string => new Date(local(text)).toISOString();
    expect(clockTime(at('2030-05-17T09:08:07'), now)).toBe('09:08:07');
    expect(clockTime(at('2030-03-12T14:03:00'), now)).toBe('12 Mar 14:03');
    expect(clockTime(at('2029-03-12T14:03:00'), now)).toBe('12 Mar 2029 14:03');
    expect(localInput(now)).toBe('2030-05-17T14:03:22');
  });
});

describe('counts and names', () => {
  test('are grouped, and say when there are more', () => {
    expect(wholeNumber(1_234_567)).toBe('1,234,567');
    expect(counted({ count: 1000, capped: true })).toBe('1,000+');
    expect(plural(1, 'job')).toBe('1 job');
    expect(plural(2, 'job')).toBe('2 jobs');
    expect(plural(1, 'job', 'jobs', true)).toBe('1+ jobs');
    expect(words('attempts_used_up')).toBe('attempts used up');
  });

  test('values are JSON, text stays text', () => {
    expect(pretty({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(pretty('<b>')).toBe('<b>');
    expect(pretty(undefined)).toBe('');
  });
});
