import type { Ids } from '../../shared/ports.ts';

/**
 * The id under which a request is found in the log: the caller's `X-Request-Id` when it is short and plain (it ends up
 * in log lines), else a new one.
 */
export function requestIdOf(given: string | undefined, ids: Ids): string {
  return given !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : ids.uuidv7();
}
