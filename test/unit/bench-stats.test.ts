import { describe, expect, test } from 'vitest';
import { apart, median, percentile, ratio, spread, spreadText } from '../bench/support/stats.ts';

describe('what a benchmark says about its samples', () => {
  test('the median is the middle, or between the middle two, whatever the order', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([10, 2, 1, 4])).toBe(3);
    expect(median([])).toBeNaN();
  });

  test('a percentile is a sample that was measured', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentile(hundred, 50)).toBe(50);
    expect(percentile(hundred, 99)).toBe(99);
    expect(percentile([7], 99)).toBe(7);
    expect(percentile([1, 2, 3], 0)).toBe(1);
    expect(percentile([], 50)).toBeNaN();
  });

  test('a spread keeps the samples as they were', () => {
    const samples = [3, 1, 2];
    expect(spread(samples)).toEqual({ median: 2, min: 1, max: 3, samples: 3 });
    expect(samples).toEqual([3, 1, 2]);
  });

  test('a difference is claimed only where two spreads have nothing in common', () => {
    expect(apart(spread([1, 2, 3]), spread([4, 5]))).toBe(true);
    expect(apart(spread([4, 5]), spread([1, 2, 3]))).toBe(true);
    expect(apart(spread([1, 4]), spread([3, 9]))).toBe(false);
  });

  test('a ratio to nothing says nothing', () => {
    expect(ratio(6, 3)).toBe(2);
    expect(ratio(6, 0)).toBeNaN();
  });

  test('a spread in a table has its range beside it', () => {
    expect(spreadText([1720.4, 1690, 1744])).toBe('1,720 (1,690–1,744)');
    expect(spreadText([0.5], 2)).toBe('0.50 (0.50–0.50)');
    expect(spreadText([])).toBe('–');
  });
});
