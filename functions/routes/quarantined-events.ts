import { replayEvents } from '../../shared/outbox/replay-events.ts';
import { skipEvents } from '../../shared/outbox/skip-events.ts';
import { chosenEventsRequest } from '../../shared/schemas/chosen-events-request.ts';
import type { AppDeps } from '../deps.ts';
import { requireAllQueues } from '../middleware/queue-access.ts';
import { readJson } from '../middleware/read-json.ts';
import { pokeRelay } from '../relay/relay-poked.ts';
import type { Route, RouteContext } from './route.ts';

/** Lets chosen quarantined events be tried again. */
export const replayEventsRoute: Route = {
  ...decision('replay'),
  handle: (context, deps) => decide(context, deps, replayEvents),
};

/** Gives chosen quarantined events up; what waits behind them goes on. */
export const skipEventsRoute: Route = {
  ...decision('skip'),
  handle: (context, deps) => decide(context, deps, skipEvents),
};

function decision(verb: string): Omit<Route, 'handle'> {
  return {
    method: 'POST',
    path: `/v1/outbox/${verb}`,
    access: { kind: 'token', scope: 'operate' },
    database: true,
  };
}

async function decide(
  context: RouteContext,
  deps: AppDeps,
  settle: typeof replayEvents | typeof skipEvents,
): Promise<Response> {
  const { event_ids: eventIds, reason } = await readJson(context, chosenEventsRequest);
  requireAllQueues(context);
  const events = await settle(deps.sql, { eventIds, reason, actor: context.get('actor') });
  const settled = events.filter(({ outcome }) => outcome !== 'not_quarantined').length;
  if (settled > 0 && deps.config.insertPokes) pokeRelay(deps);
  return context.json({
    settled,
    events: events.map(({ eventId, outcome }) => ({ id: eventId, outcome })),
  });
}
