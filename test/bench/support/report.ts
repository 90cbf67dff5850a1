/** What a run leaves: tables on the terminal, JSON for machines. */
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import type { BenchResult, Parameters, Table, Target } from './bench.ts';
import { reached } from './bench.ts';
import type { BenchServer } from './bench-database.ts';

export interface RunFacts {
  readonly bench: string;
  readonly command: string;
  readonly parameters: Parameters;
  readonly versions: Readonly<Record<string, string>>;
  readonly server: BenchServer;
  readonly startedAt: Date;
  readonly seconds: number;
  /** Of the last minute when the run began: above the number of processors, something else ran too. */
  readonly loadAtStart: number;
}

/** Everything needed to read the figures without the machine that made them. */
export function reportJson(facts: RunFacts, result: BenchResult): string {
  const { bench, command, parameters, versions, server, startedAt, seconds, loadAtStart } = facts;
  return `${JSON.stringify(
    {
      bench,
      command,
      startedAt: startedAt.toISOString(),
      seconds: Math.round(seconds),
      machine: {
        processors: availableParallelism(),
        model: cpus()[0]?.model.trim() ?? 'unknown',
        memoryGiB: Math.round(totalmem() / 2 ** 30),
        platform: `${process.platform} ${process.arch}`,
        loadAtStart: rounded(loadAtStart),
      },
      postgres: {
        description: server.description,
        settings: server.settings,
      },
      versions: { node: process.version, ...versions },
      parameters,
      tables: result.tables.map(({ title, columns, rows }) => ({
        title,
        columns,
        rows: rows.map((row) => row.map((cell) => (typeof cell === 'number' ? json(cell) : cell))),
      })),
      charts: (result.charts ?? []).map(({ title, x, y, series }) => ({
        title,
        x: x.label,
        y: y.label,
        series: series.map(({ name, points }) => ({
          name,
          points: points.map((point) => [point.x, json(point.y)]),
        })),
      })),
      targets: result.targets.map((target) => ({
        ...target,
        measured: json(target.measured),
        reached: reached(target),
      })),
      notes: result.notes ?? [],
    },
    undefined,
    2,
  )}\n`;
}

export function reportText(result: BenchResult): string {
  const parts = result.tables.map(tableText);
  if (result.targets.length > 0) parts.push(result.targets.map(targetText).join('\n'));
  if (result.notes !== undefined && result.notes.length > 0) {
    parts.push(result.notes.map((note) => `  Note: ${note}`).join('\n'));
  }
  return parts.join('\n\n');
}

export function systemLoad(): number {
  return loadavg()[0] ?? 0;
}

function targetText(target: Target): string {
  const sign = target.kind === 'least' ? '≥' : '≤';
  const unit = target.unit ?? '';
  const verdict = reached(target) ? 'reached' : 'not reached';
  return `  ${verdict}: ${target.name}: ${cellText(target.measured)}${unit} (${sign} ${target.bound}${unit})`;
}

function tableText({ title, columns, rows }: Table): string {
  const cells = [columns, ...rows.map((row) => row.map(cellText))];
  const widths = columns.map((_, column) =>
    Math.max(...cells.map((row) => (row[column] ?? '').length)),
  );
  const lines = cells.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
  return [title, ...lines.map((line) => `  ${line.trimEnd()}`)].join('\n');
}

function cellText(cell: string | number | null): string {
  if (cell === null) return '–';
  if (typeof cell === 'string') return cell;
  if (!Number.isFinite(cell)) return '–';
  return rounded(cell).toLocaleString('en-GB', { maximumFractionDigits: 4 });
}

function json(value: number): number | null {
  return Number.isFinite(value) ? rounded(value) : null;
}

/** Three digits say all that a timing can. */
function rounded(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3));
}
