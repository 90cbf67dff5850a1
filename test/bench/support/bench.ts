import type { BenchServer } from './bench-database.ts';
import type { Chart } from './chart.ts';
import type { Progress } from './progress.ts';

/** Numbers by name; each can be given on the command line: `seconds` as `--seconds 5`, `clients` as `--clients 1,8`. */
export type Parameters = Readonly<Record<string, number | readonly number[]>>;

export interface BenchContext {
  readonly server: BenchServer;
  readonly progress: Progress;
  readonly short: boolean;
}

/** A named benchmark: `npm run bench -- <name>`. */
export interface Bench<P extends Parameters = Parameters> {
  readonly name: string;
  /** One line for `--help`. */
  readonly summary: string;
  readonly full: P;
  /** Done in less than a minute: what continuous integration can afford. */
  readonly short: P;
  run(context: BenchContext, parameters: P): Promise<BenchResult>;
}

export interface BenchResult {
  readonly tables: readonly Table[];
  /** What the bench had to reach, and what it did. Reported, never asserted: a time depends on the machine. */
  readonly targets: readonly Target[];
  readonly charts?: readonly NamedChart[];
  /** What a reader must know to read the figures. */
  readonly notes?: readonly string[];
}

/** Written as `<name>.svg`, or `<name>-<suffix>.svg` where a bench has several. */
export interface NamedChart extends Chart {
  readonly suffix?: string;
}

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
}

export interface Target {
  /** In words: `fused at 8 clients, times our two-call form`. */
  readonly name: string;
  readonly measured: number;
  readonly bound: number;
  /** `least`: the figure must not be under the bound; `most`: not over it. */
  readonly kind: 'least' | 'most';
  readonly unit?: string;
}

/** `NaN`, from a bench that could not measure, reaches nothing. */
export function reached({ kind, measured, bound }: Target): boolean {
  return kind === 'least' ? measured >= bound : measured <= bound;
}
