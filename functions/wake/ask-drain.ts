import { askWake } from './ask-wake.ts';
import type { AskWakeDeps } from './ask-wake.ts';
import type { AppDeps } from '../deps.ts';

/**
 * Asks for a drain as soon as there can be one, where only the database knows what is due now, and when the next is: after
 * the commit, in the background, and one for all that ask at a time.
 *
 * @param delayMs for what may have been taken by then
 */
export function askDrain(deps: AskWakeDeps & Pick<AppDeps, 'clock'>, delayMs = 0): void {
  askWake(deps, [new Date(deps.clock.now() + delayMs)]);
}
