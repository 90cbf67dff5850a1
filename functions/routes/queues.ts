import { defined } from '../../shared/defined.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { checkPushTarget } from '../../shared/push/target.ts';
import { blockedKeys } from '../../shared/queue/blocked-keys.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { getQueue } from '../../shared/queue/get-queue.ts';
import { listQueues } from '../../shared/queue/list-queues.ts';
import type { QueueDocument } from '../../shared/queue/queue-settings.ts';
import { setQueuePaused } from '../../shared/queue/set-queue-paused.ts';
import { blockedKeysQuery } from '../../shared/schemas/blocked-keys-query.ts';
import { listQueuesQuery } from '../../shared/schemas/list-queues-query.ts';
import { queueName } from '../../shared/schemas/names.ts';
import { pauseRequest } from '../../shared/schemas/pause-request.ts';
import { queueSettingsRequest } from '../../shared/schemas/queue-settings-request.ts';
import type { QueueSettingsRequest } from '../../shared/schemas/queue-settings-request.ts';
import type { AppDeps } from '../deps.ts';
import { queuesOf, requireQueue } from '../middleware/queue-access.ts';
import { invalidRequest, readJson, readOptionalJson } from '../middleware/read-json.ts';
import { readParam, readQuery } from '../middleware/read-query.ts';
import { pokeQueues } from '../poke-queues.ts';
import { askDrain } from '../wake/ask-drain.ts';
import type { Route, RouteContext } from './route.ts';

/** Queues by name, by pages; with a token for certain queues, those. */
export const listQueuesRoute: Route = {
  method: 'GET',
  path: '/v1/queues',
  access: { kind: 'token', scope: 'read' },
  database: true,
  handle: async (context, deps) => {
    const query = readQuery(context, listQueuesQuery);
    const page = await listQueues(deps.sql, defined({ ...query, only: queuesOf(context) }));
    return context.json({ queues: page.queues, next_cursor: page.nextCursor });
  },
};

/** Settings and switches of one queue. */
export const readQueue: Route = {
  method: 'GET',
  path: '/v1/queues/:queue',
  access: { kind: 'token', scope: 'read' },
  database: true,
  handle: async (context, deps) => {
    const queue = queueOf(context);
    return context.json(found(await getQueue(deps.sql, { queue })));
  },
};

/** Makes the queue or changes the settings that the body names. */
export const putQueue: Route = {
  method: 'PUT',
  path: '/v1/queues/:queue',
  access: { kind: 'token', scope: 'operate' },
  database: true,
  handle: async (context, deps) => {
    const queue = queueOf(context);
    const settings = await readJson(context, queueSettingsRequest);
    checkDelivery(deps, queue, settings);
    await checkTarget(deps, queue, settings);
    const actor = context.get('actor');
    const configured = await configureQueue(deps.sql, {
      queue,
      settings: defined(settings),
      actor,
    });
    wakeQueue(deps, queue); // a limit may have gone up, or a target changed that was resting
    return context.json(configured);
  },
};

/** Stops the claims of a queue; running jobs go on. */
export const pauseQueue: Route = {
  ...switchRoute('pause'),
  handle: async (context, deps) => await setPaused(context, deps, true),
};

/** Lets claims go on, and wakes the workers of the queue. */
export const resumeQueue: Route = {
  ...switchRoute('resume'),
  handle: async (context, deps) => await setPaused(context, deps, false),
};

/** Ordering keys with jobs that wait, and what they wait for. */
export const readBlockedKeys: Route = {
  method: 'GET',
  path: '/v1/queues/:queue/blocked-keys',
  access: { kind: 'token', scope: 'read' },
  database: true,
  handle: async (context, deps) => {
    const queue = queueOf(context);
    const { limit, cursor } = readQuery(context, blockedKeysQuery);
    const keys = await blockedKeys(deps.sql, defined({ queue, limit, after: cursor }));
    return context.json({
      keys: keys.map((key) => ({
        ordering_key: key.orderingKey,
        waiting: key.waiting,
        blocked_by: key.blockedBy,
        blocked_by_state: key.blockedByState,
      })),
      next_cursor: keys.length === limit ? (keys.at(-1)?.orderingKey ?? null) : null,
    });
  },
};

function switchRoute(verb: string): Omit<Route, 'handle'> {
  return {
    method: 'POST',
    path: `/v1/queues/:queue/${verb}`,
    access: { kind: 'token', scope: 'operate' },
    database: true,
  };
}

async function setPaused(context: RouteContext, deps: AppDeps, paused: boolean): Promise<Response> {
  const queue = queueOf(context);
  const { reason } = await readOptionalJson(context, pauseRequest);
  const input = defined({ queue, paused, actor: context.get('actor'), reason });
  const { changed } = await setQueuePaused(deps.sql, input);
  if (!paused) wakeQueue(deps, queue);
  return context.json({ ...found(await getQueue(deps.sql, { queue })), changed });
}

/** A poke for what is due now, and a drain for the rest: whatever waited for a time while nobody looked at the queue. */
function wakeQueue(deps: AppDeps, queue: string): void {
  pokeQueues(deps, [queue]);
  askDrain(deps);
}

/** Handlers of a deployment serve their queue whatever it says, so it must not say anything else. */
function checkDelivery(deps: AppDeps, queue: string, { delivery }: QueueSettingsRequest): void {
  if (delivery === undefined || delivery === 'handler' || !deps.handlers.serves(queue)) return;
  throw invalidRequest([
    {
      path: 'delivery',
      message: 'must be "handler", as this deployment has handlers for the queue',
    },
  ]);
}

/**
 * Every URL that jobs could be pushed to is checked as it is before each push, the one on record too when the queue only
 * now begins to push.
 */
async function checkTarget(
  deps: AppDeps,
  queue: string,
  settings: QueueSettingsRequest,
): Promise<void> {
  const begins = settings.delivery === 'push' && settings.target_url === undefined;
  const target = begins ? (await getQueue(deps.sql, { queue }))?.target_url : settings.target_url;
  if (target === undefined || target === null) return;
  const checked = checkPushTarget(target, deps.config.pushTargets);
  if (!checked.ok) throw invalidRequest([{ path: 'target_url', message: checked.problem }]);
}

function queueOf(context: RouteContext): string {
  const queue = readParam(context, 'queue', queueName);
  requireQueue(context, queue);
  return queue;
}

function found(queue: QueueDocument | undefined): QueueDocument {
  if (queue !== undefined) return queue;
  throw new LeaseholdError('not_found', 'No queue has this name.');
}
