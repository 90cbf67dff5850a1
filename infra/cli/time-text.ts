const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/**
 * A span of time in its largest two units at most.
 *
 * @example durationText(3_725_000) // '1 h 2 min'
 */
export function durationText(ms: number): string {
  if (Math.abs(ms) < 1000) return `${Math.round(Math.abs(ms))} ms`;
  let seconds = Math.round(Math.abs(ms) / 1000);
  const at = UNITS.findIndex(([, size]) => seconds >= size);
  const parts: string[] = [];
  for (const [unit, size] of UNITS.slice(at, at + 2)) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.join(' ');
}

/** `in 5 min`, `now` or `5 min ago`. */
export function relativeText(instant: string, nowMs: number): string {
  const ms = Date.parse(instant) - nowMs;
  if (Number.isNaN(ms)) return instant;
  if (Math.abs(ms) < 1000) return 'now';
  return ms > 0 ? `in ${durationText(ms)}` : `${durationText(ms)} ago`;
}
