/** Which rows of a long list are drawn: those in sight, and a few around them. */
export interface Window {
  readonly first: number;
  /** One behind the last. */
  readonly end: number;
}

export interface Viewport {
  readonly rows: number;
  readonly rowHeight: number;
  /** How far the top of the list is above the top of what is seen, in pixels; negative: below it. */
  readonly scrolled: number;
  readonly height: number;
  readonly extra: number;
}

export function rowWindow({ rows, rowHeight, scrolled, height, extra }: Viewport): Window {
  const first = Math.floor(Math.max(0, scrolled) / rowHeight) - extra;
  const end = Math.ceil((Math.max(0, scrolled) + height) / rowHeight) + extra;
  return { first: clamp(first, rows), end: clamp(end, rows) };
}

/** Where a key leads in a list with the row `at` in focus; undefined: the key says nothing to lists. */
export function rowAfterKey(
  key: string,
  at: number,
  rows: number,
  page: number,
): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    j: 1,
    ArrowUp: -1,
    k: -1,
    PageDown: page,
    PageUp: -page,
    Home: -Infinity,
    End: Infinity,
  };
  const step = Object.hasOwn(steps, key) ? steps[key] : undefined;
  if (step === undefined || rows === 0) return undefined;
  return clamp(at + step, rows - 1);
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(value, 0), most);
}
