import { getQueue } from '../shared/queue/get-queue.ts';
import type { AppDeps } from './deps.ts';
import { askDrain } from './wake/ask-drain.ts';
import { sendPoke } from './wake/send-poke.ts';

/**
 * One poke a queue for which this deployment would do something, after the commit that made work due: before it, the
 * poke could find nothing. A hint that may be lost: the drain finds the rest.
 *
 * A queue with handlers here is known from the code. Whether another one is pushed only the database knows; it is asked
 * in the background, and only by a deployment that could push. With `INSERT_POKES=off` a drain does it all.
 *
 * @example pokeQueues(deps, ['emails'])
 */
export function pokeQueues(deps: AppDeps, queues: Iterable<string>): void {
  const ours = [...new Set(queues)].filter((queue) => mayServe(deps, queue));
  if (!deps.config.insertPokes) {
    if (ours.length > 0) askDrain(deps);
    return;
  }
  for (const queue of ours) {
    if (deps.handlers.serves(queue)) {
      sendPoke(deps, { queue, depth: 0 });
    } else {
      deps.background.run(() => pokeIfPushed(deps, queue));
    }
  }
}

/** Whether this deployment may have something to do for a queue: only the database knows which ones are pushed. */
export function mayServe({ config, handlers }: AppDeps, queue: string): boolean {
  return handlers.serves(queue) || config.pushSecrets.length > 0;
}

async function pokeIfPushed(deps: AppDeps, queue: string): Promise<void> {
  try {
    const settings = await getQueue(deps.sql, { queue });
    if (settings?.delivery !== 'push') return;
  } catch {
    deps.log.warn('poke_failed', { queue, depth: 0, reason: 'queue_unknown' });
    askDrain(deps);
    return;
  }
  sendPoke(deps, { queue, depth: 0 });
}
