import { defined } from '../../shared/defined.ts';
import { readOverview } from '../../shared/queue/overview.ts';
import { overviewQuery } from '../../shared/schemas/overview-query.ts';
import { queuesOf } from '../middleware/queue-access.ts';
import { readQuery } from '../middleware/read-query.ts';
import type { Route } from './route.ts';

/** How the queues fare; with a token for certain queues, those. */
export const readOverviewRoute: Route = {
  method: 'GET',
  path: '/v1/overview',
  access: { kind: 'token', scope: 'read' },
  database: true,
  handle: async (context, deps) => {
    readQuery(context, overviewQuery);
    return context.json(await readOverview(deps.sql, defined({ queues: queuesOf(context) })));
  },
};
