import type { Clock, Log, LogFields } from '../shared/ports.ts';

/** One JSON line an event, to the console: what Workers Logs and CloudWatch take in as fields. */
export function createJsonLog(clock: Clock): Log {
  const write = (level: 'info' | 'warn' | 'error', event: string, fields: LogFields = {}): void => {
    const time = new Date(clock.now()).toISOString();
    // The one place where the Log port meets the platform.
    console[level](JSON.stringify({ time, level, event, ...fields }));
  };
  return {
    info: (event, fields) => write('info', event, fields),
    warn: (event, fields) => write('warn', event, fields),
    error: (event, fields) => write('error', event, fields),
  };
}
