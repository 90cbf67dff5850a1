import type { Log, LogFields } from './ports.ts';

/**
 * A log that adds the same fields to every line; they win over fields of the line, so a line cannot name another job.
 *
 * @example const jobLog = logWith(log, { job_id: job.jobId });
 */
export function logWith(log: Log, fixed: LogFields): Log {
  return {
    info: (event, fields) => log.info(event, { ...fields, ...fixed }),
    warn: (event, fields) => log.warn(event, { ...fields, ...fixed }),
    error: (event, fields) => log.error(event, { ...fields, ...fixed }),
  };
}
