import { WAIT_MARGIN_MS } from '../shared/limits.ts';
import type { AppDeps } from './deps.ts';
import type { RouteContext } from './routes/route.ts';

/**
 * Local milliseconds at which a request that waits must answer: after the time it asked for, and in time for the
 * platform that ends the invocation.
 *
 * @param waitSeconds 0 to `MAX_WAIT_SECONDS`
 */
export function waitDeadline(
  context: RouteContext,
  { clock, invocationMs }: Pick<AppDeps, 'clock' | 'invocationMs'>,
  waitSeconds: number,
): number {
  return Math.min(
    clock.now() + waitSeconds * 1000,
    context.get('startedAt') + invocationMs - WAIT_MARGIN_MS,
  );
}
