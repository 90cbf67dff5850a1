import { useEffect, useRef } from 'hono/jsx/dom';
import uPlot from 'uplot';

import { span, wholeNumber } from './format.ts';
import type { Series } from './wire.ts';

/** Jobs that ended lately: bars of all, with those that failed in front. */
export function Spark({ series, large }: { readonly series: Series; readonly large?: boolean }) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const element = holder.current;
    if (element === null) return undefined;
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(options(element, large === true), dataOf(series), element);
    };
    draw();
    dark.addEventListener('change', draw);
    const resized = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element;
      if (plot.current !== null && plot.current.width !== width)
        plot.current.setSize({ width, height });
    });
    resized.observe(element);
    return () => {
      dark.removeEventListener('change', draw);
      resized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [large]);
  useEffect(() => {
    plot.current?.setData(dataOf(series));
  }, [series]);
  return (
    <div
      ref={holder}
      class={large === true ? 'chart' : 'spark'}
      role="img"
      aria-label={inWords(series)}
      title={inWords(series)}
    />
  );
}

export function sum(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0);
}

function inWords(series: Series): string {
  const time = span(series.step_seconds * series.succeeded.length);
  return `Last ${time}: ${wholeNumber(sum(series.succeeded))} succeeded, ${wholeNumber(sum(series.failed))} failed`;
}

function dataOf(series: Series): uPlot.AlignedData {
  const from = Date.parse(series.from) / 1000;
  const failed = series.failed.map((count) => (count === 0 ? null : count));
  const all = series.succeeded.map((count, at) => {
    const both = count + (series.failed[at] ?? 0);
    return both === 0 ? null : both;
  });
  return [series.succeeded.map((_, at) => from + at * series.step_seconds), all, failed];
}

const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

function clock24(second: number): string {
  const at = new Date(second * 1000);
  return `${at.getHours()}:${String(at.getMinutes()).padStart(2, '0')}`;
}

function options(element: HTMLElement, large: boolean): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const bars = uPlot.paths.bars?.({ size: [0.8, 40], align: 1 });
  const axis = {
    stroke: colour('--text-quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  const line = (name: string): uPlot.Series => ({
    fill: colour(name),
    stroke: colour(name),
    width: 0,
    points: { show: false },
    ...(bars === undefined ? {} : { paths: bars }),
  });
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    padding: large ? [8, 8, 0, 0] : [2, 0, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(high, 1)] } },
    axes: large
      ? [
          { ...axis, size: 28, values: (_plot, at) => at.map((second) => clock24(second)) },
          { ...axis, size: 44, incrs: WHOLE_STEPS },
        ]
      : [{ show: false }, { show: false }],
    series: [{}, line('--good-fill'), line('--bad-fill')],
  };
}
