const CLEAR_LINE = '\r\u001b[K';
/** Where nobody can overwrite a line, one line at most this often. */
const QUIET_MS = 10_000;

export interface Progress {
  /** What is being done now: overwrites the line on a terminal, an occasional line elsewhere. */
  show(text: string): void;
  /** A line that stays. */
  print(text: string): void;
  /** Removes the line. */
  clear(): void;
}

/** Progress goes to stderr, so that stdout stays the report. */
export function createProgress(): Progress {
  const terminal = process.stderr.isTTY;
  const begun = performance.now();
  let last = -Infinity;
  const clear = (): void => {
    if (terminal) process.stderr.write(CLEAR_LINE);
  };
  return {
    show: (text) => {
      const now = performance.now();
      if (!terminal && now - last < QUIET_MS) return;
      last = now;
      const line = `  ${Math.round((now - begun) / 1000)} s  ${text}`;
      process.stderr.write(terminal ? `${CLEAR_LINE}${line.slice(0, columns())}` : `${line}\n`);
    },
    print: (text) => {
      clear();
      process.stdout.write(`${text}\n`);
    },
    clear,
  };
}

function columns(): number {
  return (process.stderr.columns || 80) - 1;
}
