import { describe, expect, test } from 'vitest';
import { chartSvg, shortNumber, type Chart } from '../bench/support/chart.ts';

const LINES: Chart = {
  kind: 'line',
  title: 'Time of a claim <by backlog>',
  description: 'Flat & short.',
  x: { label: 'due jobs', scale: 'log' },
  y: { label: 'milliseconds', scale: 'log' },
  series: [
    {
      name: 'ours',
      points: [
        { x: 1_000, y: 0.5 },
        { x: 1_000_000, y: 0.5 },
      ],
    },
    {
      name: 'theirs',
      points: [
        { x: 1_000, y: 1 },
        { x: 1_000_000, y: 900 },
      ],
    },
  ],
};

const BARS: Chart = {
  ...LINES,
  kind: 'bar',
  series: LINES.series.map(({ name, points }) => ({
    name,
    points: points.map(({ x, y }) => ({ x: `${x}`, y })),
  })),
};

function heights(svg: string): number[] {
  return [...svg.matchAll(/<rect [^>]* height="([\d.]+)"/g)].map(([, height]) => Number(height));
}

function pointsOf(svg: string): number[][][] {
  return [...svg.matchAll(/<polyline [^>]*points="([^"]*)"/g)].map(([, points = '']) =>
    points.split(' ').map((point) => point.split(',').map(Number)),
  );
}

describe('a chart', () => {
  test('names itself for a screen reader, with labels, units and a legend', () => {
    const svg = chartSvg(LINES);
    expect(svg).toContain('role="img" aria-labelledby="title description"');
    expect(svg).toContain('<title id="title">Time of a claim &lt;by backlog></title>');
    expect(svg).toContain('<desc id="description">Flat &amp; short.</desc>');
    for (const text of ['due jobs', 'milliseconds', 'ours', 'theirs', '1 M', '1,000']) {
      expect(svg).toContain(`>${text}</text>`);
    }
    expect(svg).toContain('prefers-color-scheme:dark');
  });

  test('a flat line is flat, and more is higher', () => {
    const [flat, steep] = pointsOf(chartSvg(LINES));
    expect(flat?.[0]?.[1]).toBe(flat?.[1]?.[1]);
    expect(steep?.[1]?.[1]).toBeLessThan(steep?.[0]?.[1] ?? 0);
    expect(flat?.[0]?.[0]).toBe(steep?.[0]?.[0]);
  });

  test('bars begin at zero: heights are as the values', () => {
    const [first, second, third] = heights(chartSvg({ ...BARS, series: barsOf([10, 20, 40]) }));
    expect((second ?? 0) / (first ?? 1)).toBeCloseTo(2, 1);
    expect((third ?? 0) / (first ?? 1)).toBeCloseTo(4, 1);
  });

  test('a value that was not measured leaves a gap, not a broken picture', () => {
    const svg = chartSvg({ ...BARS, series: barsOf([10, Number.NaN]) });
    expect(heights(svg)).toHaveLength(1);
    expect(chartSvg({ ...LINES, series: [] })).not.toContain('NaN');
    expect(svg).not.toContain('NaN');
  });

  test('numbers are short', () => {
    expect([1500, 20_000, 1_000_000, 0.25, 2_500_000].map(shortNumber)).toEqual([
      '1,500',
      '20 K',
      '1 M',
      '0.25',
      '2.5 M',
    ]);
  });
});

function barsOf(values: readonly number[]): Chart['series'] {
  return [{ name: 'ours', points: values.map((y, index) => ({ x: `group ${index}`, y })) }];
}
