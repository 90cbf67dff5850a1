import type { AppDeps } from './deps.ts';

/**
 * One poke a queue, in the background and after the commit (before it, the poke could find nothing). For queues that
 * have just got due work; where this deployment has nobody for it, whoever has will come.
 *
 * @example pokeQueues(deps, ['emails'])
 */
export function pokeQueues(deps: AppDeps, queues: Iterable<string>): void {
  if (!deps.config.insertPokes) return;
  for (const queue of new Set(queues)) {
    if (!deps.handlers.serves(queue)) continue;
    deps.background.run(() => deps.poker.send({ queue, depth: 0 }));
  }
}
