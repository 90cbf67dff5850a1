import { printable } from './printable.ts';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null | undefined;
  /** Colours the finished cell: it must not change its width. */
  readonly paint?: (cell: string, row: Row) => string;
  /** Cut first where the terminal is too narrow. */
  readonly mayShrink?: boolean;
}

const GAP = '  ';
const NOTHING = '-';
const LEAST_CHARS = 8;
/** What terminals draw over two columns: East Asian letters and emoji. */
const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/**
 * Rows as lines under titles. Every cell is one line of plain characters.
 *
 * @param width of the terminal: columns that may shrink are cut to fit; undefined: nothing is cut
 */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number | undefined,
): string {
  const cells = rows.map((row) => columns.map((column) => cellText(column.value(row))));
  const widths = columns.map((column, at) =>
    Math.max(length(column.title), ...cells.map((line) => length(line[at] ?? ''))),
  );
  const fitting = width === undefined ? widths : shrunk(columns, widths, width);
  const titles = columns.map(({ title }, at) => fit(title, fitting[at] ?? 0)).join(GAP);
  const lines = rows.map((row, index) =>
    columns
      .map((column, at) => {
        const cell = fit(cells[index]?.[at] ?? '', fitting[at] ?? 0);
        return column.paint === undefined ? cell : column.paint(cell, row);
      })
      .join(GAP)
      .trimEnd(),
  );
  return [titles.trimEnd(), ...lines].map((line) => `${line}\n`).join('');
}

/** Names and values, one a line; what is undefined is left out. */
export function facts(
  entries: readonly (readonly [name: string, value: string | number | null | undefined])[],
): string {
  const shown = entries.filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...shown.map(([name]) => length(name)));
  return shown.map(([name, value]) => `${fit(name, width)}${GAP}${cellText(value)}\n`).join('');
}

function cellText(value: string | number | null | undefined): string {
  const text = value === null || value === undefined ? '' : printable(String(value));
  return text === '' ? NOTHING : text;
}

/** The widest that may shrink gives way until all fit, or none can. */
function shrunk<Row>(
  columns: readonly Column<Row>[],
  widths: readonly number[],
  width: number,
): number[] {
  const fitting = [...widths];
  const total = (): number =>
    fitting.reduce((sum, one) => sum + one, 0) + GAP.length * (fitting.length - 1);
  for (let over = total() - width; over > 0; over -= 1) {
    const widest = fitting.reduce(
      (best, one, at) =>
        columns[at]?.mayShrink === true && one > LEAST_CHARS && one > (fitting[best] ?? 0)
          ? at
          : best,
      -1,
    );
    if (widest === -1) break;
    fitting[widest] = (fitting[widest] ?? 0) - 1;
  }
  return fitting;
}

function fit(text: string, width: number): string {
  const spare = width - length(text);
  if (spare >= 0) return text + ' '.repeat(spare);
  let kept = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const next = used + segmentWidth(segment);
    if (next > width - 1) break;
    kept += segment;
    used = next;
  }
  return `${kept}…${' '.repeat(width - 1 - used)}`;
}

/** Columns of a terminal that a text takes. */
function length(text: string): number {
  let columns = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) columns += segmentWidth(segment);
  return columns;
}

function segmentWidth(segment: string): number {
  return WIDE.test(segment) ? 2 : 1;
}
