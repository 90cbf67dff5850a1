import { POKE_LOST_MS } from '../../shared/limits.ts';
import type { Poke } from '../../shared/ports.ts';
import type { AppDeps } from '../deps.ts';
import { askDrain } from './ask-drain.ts';

/**
 * Sends a poke in the background, after the commit that made work due. One that does not arrive, or is held back because
 * enough are on their way, leaves its work to a drain, and all of them together to one.
 *
 * @example sendPoke(deps, { queue: 'emails', depth: 0 });
 */
export function sendPoke(
  deps: Pick<AppDeps, 'background' | 'poker' | 'wake' | 'clock' | 'timer' | 'log'>,
  poke: Poke,
): void {
  deps.background.run(async () => {
    const outcome = await deps.poker.send(poke);
    if (outcome === 'held') askDrain(deps);
    if (outcome === 'failed') askDrain(deps, POKE_LOST_MS);
  });
}
