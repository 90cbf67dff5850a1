import type { Clock, Log, LogFields } from '../shared/ports.ts';

export type LogLevel = 'info' | 'warn' | 'error';
export type PrintLine = (level: LogLevel, line: string) => void;

/**
 * One JSON line an event, which log stores such as Workers Logs and CloudWatch take in as fields.
 *
 * @param print where the lines go; default: the console
 */
export function createJsonLog(clock: Clock, print: PrintLine = toConsole): Log {
  const write = (level: LogLevel, event: string, fields: LogFields = {}): void => {
    const time = new Date(clock.now()).toISOString();
    print(level, JSON.stringify({ time, level, event, ...fields }));
  };
  return {
    info: (event, fields) => write('info', event, fields),
    warn: (event, fields) => write('warn', event, fields),
    error: (event, fields) => write('error', event, fields),
  };
}

/** The one place where the Log port meets the platform. */
function toConsole(level: LogLevel, line: string): void {
  console[level](line);
}
