import { LeaseholdError } from '../shared/errors.ts';
import type { Log } from '../shared/ports.ts';
import { problemResponse } from './middleware/problem.ts';
import { webIds } from './web-ports.ts';

/** The answer of a deployment with wrong settings. The log names them for whoever deployed it; the caller learns nothing. */
export function notConfigured(error: unknown, log: Log): Response {
  if (error instanceof LeaseholdError) {
    for (const { path, message } of error.problems) {
      log.error('config_invalid', { setting: path, rule: message });
    }
  }
  return problemResponse(error, webIds.uuidv7());
}
