/** Small charts as SVG text: legible on light and on dark pages, and to a screen reader. */

export interface Chart {
  readonly kind: 'line' | 'bar';
  readonly title: string;
  /** One or two sentences on what is to be seen, for whoever cannot see it. */
  readonly description: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
}

export interface Axis {
  /** With its unit: `jobs a second`. */
  readonly label: string;
  /** `log`: a tenfold step is as wide as the one before; values must be above zero. Bars start at zero and cannot be. */
  readonly scale?: 'linear' | 'log';
}

export interface Series {
  readonly name: string;
  /** Lines: numbers on the x axis. Bars: the names of the groups, the same in every series. */
  readonly points: readonly { readonly x: number | string; readonly y: number }[];
}

const WIDTH = 760;
const HEIGHT = 420;
const LEFT = 78;
const RIGHT = 18;
const TOP = 48;
const BOTTOM = 56;
const LEGEND_ROW = 18;
const LEGEND_COLUMNS = 3;
/** Points closer than that are the line itself. */
const MOST_DOTS = 20;
/** Told apart by people who do not tell red from green; each has enough contrast on white and on near-black. */
const COLOURS = ['#0b7fab', '#d1600c', '#7a5cc8', '#2f8f4e', '#b03a6f', '#8a7400', '#6b7785'];
const DASHES = ['', '7 4', '2 4', '10 3 2 3', '4 2', '12 4', '1 3'];
const STYLE = `text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-size:16px;font-weight:600}.small{font-size:12px}
.grid{stroke:#8c959f;stroke-opacity:.35}.axis{stroke:#59636e}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.axis{stroke:#9198a1}}`;

interface Scale {
  readonly ticks: readonly number[];
  at(value: number): number;
}

/** @example await writeFile('claim-cost.svg', chartSvg(chart)); */
export function chartSvg(chart: Chart): string {
  const rows = Math.ceil(chart.series.length / LEGEND_COLUMNS);
  const top = TOP + rows * LEGEND_ROW;
  const height = HEIGHT + rows * LEGEND_ROW;
  const bottom = height - BOTTOM;
  const values = chart.series.flatMap(({ points }) => points.map(({ y }) => y));
  const y = scale(values, chart.kind === 'bar' ? 'linear' : chart.y.scale, [bottom, top], true);
  const body = chart.kind === 'bar' ? bars(chart, y, bottom) : lines(chart, y, bottom);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title description">
<title id="title">${escaped(chart.title)}</title>
<desc id="description">${escaped(chart.description)}</desc>
<style>${STYLE}</style>
<text class="title" x="${LEFT}" y="26">${escaped(chart.title)}</text>
${legend(chart)}
${y.ticks.map((tick) => horizontal(y.at(tick), shortNumber(tick))).join('\n')}
${body}
<line class="axis" x1="${LEFT}" y1="${bottom}" x2="${WIDTH - RIGHT}" y2="${bottom}"/>
<text class="small" text-anchor="middle" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${height - 14}">${escaped(chart.x.label)}</text>
<text class="small" text-anchor="middle" transform="translate(18 ${(top + bottom) / 2}) rotate(-90)">${escaped(chart.y.label)}</text>
</svg>
`;
}

function lines(chart: Chart, y: Scale, bottom: number): string {
  const xs = chart.series.flatMap(({ points }) => points.map((point) => Number(point.x)));
  const x = scale(xs, chart.x.scale, [LEFT + 12, WIDTH - RIGHT - 12], false);
  const ticks = x.ticks.map((tick) => xLabel(x.at(tick), bottom, shortNumber(tick)));
  const paths = chart.series.map(({ points }, index) => {
    const at = points
      .filter((point) => Number.isFinite(point.y))
      .map((point) => [round(x.at(Number(point.x))), round(y.at(point.y))] as const);
    const dots =
      at.length > MOST_DOTS
        ? []
        : at.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour(index)}"/>`);
    return `<polyline fill="none" stroke="${colour(index)}" stroke-width="2" stroke-dasharray="${dash(index)}" points="${at.map((point) => point.join(',')).join(' ')}"/>${dots.join('')}`;
  });
  return [...ticks, ...paths].join('\n');
}

function bars(chart: Chart, y: Scale, bottom: number): string {
  const groups = [...new Set(chart.series.flatMap(({ points }) => points.map((point) => point.x)))];
  const step = (WIDTH - LEFT - RIGHT) / Math.max(1, groups.length);
  const width = (step * 0.8) / Math.max(1, chart.series.length);
  return groups
    .map((group, at) => {
      const from = LEFT + at * step + step * 0.1;
      const drawn = chart.series.map(({ points }, index) => {
        const value = points.find((point) => point.x === group)?.y ?? Number.NaN;
        if (!Number.isFinite(value)) return '';
        const height = Math.max(1, bottom - y.at(value));
        return `<rect x="${round(from + index * width)}" y="${round(bottom - height)}" width="${round(width - 2)}" height="${round(height)}" fill="${colour(index)}"/>`;
      });
      return drawn.join('') + xLabel(from + step * 0.4, bottom, String(group));
    })
    .join('\n');
}

function legend({ kind, series }: Chart): string {
  const width = (WIDTH - LEFT - RIGHT) / LEGEND_COLUMNS;
  return series
    .map(({ name }, index) => {
      const x = round(LEFT + (index % LEGEND_COLUMNS) * width);
      const y = 46 + Math.floor(index / LEGEND_COLUMNS) * LEGEND_ROW;
      const look =
        kind === 'bar' ? 'stroke-width="10"' : `stroke-width="3" stroke-dasharray="${dash(index)}"`;
      return `<line x1="${x}" y1="${y - 4}" x2="${x + 22}" y2="${y - 4}" stroke="${colour(index)}" ${look}/><text class="small" x="${x + 28}" y="${y}">${escaped(name)}</text>`;
    })
    .join('\n');
}

function horizontal(at: number, text: string): string {
  return `<line class="grid" x1="${LEFT}" y1="${round(at)}" x2="${WIDTH - RIGHT}" y2="${round(at)}"/><text class="small" text-anchor="end" x="${LEFT - 8}" y="${round(at + 4)}">${text}</text>`;
}

function xLabel(at: number, bottom: number, text: string): string {
  return `<text class="small" text-anchor="middle" x="${round(at)}" y="${bottom + 20}">${escaped(text)}</text>`;
}

function scale(
  values: readonly number[],
  kind: Axis['scale'],
  [from, to]: readonly [number, number],
  fromZero: boolean,
): Scale {
  const finite = values.filter((value) => Number.isFinite(value) && (kind !== 'log' || value > 0));
  const most = finite.length === 0 ? 1 : Math.max(...finite);
  const least = finite.length === 0 ? 0 : Math.min(...finite);
  if (kind === 'log') {
    const low = finite.length === 0 ? 0 : Math.floor(Math.log10(least));
    const high = Math.max(low + 1, Math.ceil(Math.log10(most)));
    const ticks = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
    return {
      ticks,
      at: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from),
    };
  }
  const low = fromZero ? Math.min(0, least) : least;
  const step = niceStep(Math.max(most - low, Number.MIN_VALUE) / 5);
  const start = Math.floor(low / step) * step;
  const count = Math.max(1, Math.ceil((most - start) / step));
  const ticks = Array.from({ length: count + 1 }, (_, index) => start + index * step);
  return { ticks, at: (value) => from + ((value - start) / (count * step)) * (to - from) };
}

/** 1, 2 or 5 times a power of ten, not below `step`. */
function niceStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  return power * ([1, 2, 5].find((factor) => factor * power >= step) ?? 10);
}

/** `1,500`, `20 K`, `1 M`, `0.25`. */
export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 1_000_000) return `${trimmed(value / 1_000_000)} M`;
  if (size >= 10_000) return `${trimmed(value / 1_000)} K`;
  return trimmed(value);
}

function trimmed(value: number): string {
  return Number(value.toPrecision(4)).toLocaleString('en-GB', { maximumFractionDigits: 4 });
}

function colour(index: number): string {
  return COLOURS[index % COLOURS.length] ?? '#6b7785';
}

function dash(index: number): string {
  return DASHES[index % DASHES.length] ?? '';
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
