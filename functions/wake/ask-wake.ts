import { waitAtMost } from '../../shared/bounded-wait.ts';
import { WAKE_TIMEOUT_MS } from '../../shared/limits.ts';
import type { AppDeps } from '../deps.ts';

export type AskWakeDeps = Pick<AppDeps, 'background' | 'wake' | 'timer' | 'log'>;

/**
 * Hands a due instant to the wake clock in the background, after the commit that made it. Of several the earliest is asked
 * for; none: nothing. A clock that refuses is asked once more: a durable object whose code has just changed, or that has
 * moved, fails the calls that are on their way. One that does not answer costs a line in the log: the safety sweep finds the
 * work.
 *
 * @example askWake(deps, [stored.dueAt]);
 */
export function askWake(deps: AskWakeDeps, instants: readonly Date[]): void {
  const at = Math.min(...instants.map((instant) => instant.getTime()));
  if (!Number.isFinite(at)) return;
  deps.background.run(async () => {
    const asked = await waitAtMost(deps.timer, WAKE_TIMEOUT_MS, () =>
      deps.wake.wakeAt(at).catch(() => deps.wake.wakeAt(at)),
    );
    if (asked.kind !== 'value') deps.log.warn('wake_failed', { reason: asked.kind });
  });
}
