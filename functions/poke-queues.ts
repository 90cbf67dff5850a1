import { getQueue } from '../shared/queue/get-queue.ts';
import type { AppDeps } from './deps.ts';

/**
 * One poke a queue for which this deployment would do something, after the commit that made work due: before it, the
 * poke could find nothing. A hint that may be lost: the drain finds the rest.
 *
 * A queue with handlers here is known from the code. Whether another one is pushed only the database knows; it is asked
 * in the background, and only by a deployment that could push.
 *
 * @example pokeQueues(deps, ['emails'])
 */
export function pokeQueues(deps: AppDeps, queues: Iterable<string>): void {
  if (!deps.config.insertPokes) return;
  for (const queue of new Set(queues)) {
    if (deps.handlers.serves(queue)) {
      deps.background.run(async () => {
        await deps.poker.send({ queue, depth: 0 });
      });
    } else if (deps.config.pushSecrets.length > 0) {
      deps.background.run(() => pokeIfPushed(deps, queue));
    }
  }
}

async function pokeIfPushed({ sql, poker, log }: AppDeps, queue: string): Promise<void> {
  try {
    const settings = await getQueue(sql, { queue });
    if (settings?.delivery !== 'push') return;
  } catch {
    log.warn('poke_failed', { queue, depth: 0, reason: 'queue_unknown' });
    return;
  }
  await poker.send({ queue, depth: 0 });
}
