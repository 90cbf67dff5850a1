import process from 'node:process';

/** The variables of this container: the one place that reads them. */
export function containerEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/**
 * A line of the log, past the runtime's own console, which would put time, request and level in front of it: metric
 * filters read lines that are JSON from the first character on.
 */
export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
