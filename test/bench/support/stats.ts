/** Arithmetic on samples. Nothing here measures. */

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly samples: number;
}

/** The middle value, or the mean of the middle two; `NaN` without samples. */
export function median(samples: readonly number[]): number {
  const sorted = ascending(samples);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * The smallest sample that at least `percent` of the samples do not exceed (nearest rank); `NaN` without samples.
 *
 * @example percentile(latencies, 99)
 */
export function percentile(samples: readonly number[], percent: number): number {
  const sorted = ascending(samples);
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

export function spread(samples: readonly number[]): Spread {
  const sorted = ascending(samples);
  return {
    median: median(samples),
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
    samples: samples.length,
  };
}

/** `left / right`; `NaN` where that says nothing. */
export function ratio(left: number, right: number): number {
  return right === 0 ? Number.NaN : left / right;
}

/** Whether two spreads have no value in common: only then is a difference claimed. */
export function apart(left: Spread, right: Spread): boolean {
  return left.max < right.min || right.max < left.min;
}

function ascending(samples: readonly number[]): number[] {
  return [...samples].sort((left, right) => left - right);
}

/**
 * The median with the range around it, for a table: `1,720 (1,690–1,744)`.
 *
 * @param digits after the point
 */
export function spreadText(samples: readonly number[], digits = 0): string {
  if (samples.length === 0) return '–';
  const { median: middle, min, max } = spread(samples);
  const text = (value: number): string =>
    value.toLocaleString('en-GB', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${text(middle)} (${text(min)}–${text(max)})`;
}
