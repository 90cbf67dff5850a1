import { defined } from '../../shared/defined.ts';
import { boardAt } from '../../shared/queue/board-at.ts';
import { jobEventsBefore } from '../../shared/queue/job-events-before.ts';
import { jobEventsSince } from '../../shared/queue/job-events-since.ts';
import { jobHistory } from '../../shared/queue/job-history.ts';
import { jobId } from '../../shared/schemas/job-id.ts';
import {
  boardAtQuery,
  jobHistoryQuery,
  logCursor,
  logQuery,
  logStreamQuery,
} from '../../shared/schemas/log-query.ts';
import { streamAnswer } from '../feed/stream-answer.ts';
import { noSuchJob, queuesOf, requireJob, requireQueue } from '../middleware/queue-access.ts';
import { readParam, readQuery } from '../middleware/read-query.ts';
import type { Route } from './route.ts';

/** The event log after a cursor, none of its events ever skipped; or the newest of it, and what lies before a cursor. */
export const readLog: Route = {
  ...readRoute('/v1/events'),
  handle: async (context, deps) => {
    const { order, ...query } = readQuery(context, logQuery);
    if (query.queue !== undefined) requireQueue(context, query.queue);
    const asked = defined({ ...query, queues: queuesOf(context) });
    if (order === 'newest') {
      const { events, nextCursor } = await jobEventsBefore(deps.sql, asked);
      return context.json({
        events,
        next_cursor: nextCursor ?? null,
        more: nextCursor !== undefined,
      });
    }
    const { events, nextCursor, more } = await jobEventsSince(deps.sql, asked);
    return context.json({ events, next_cursor: nextCursor ?? null, more });
  },
};

/**
 * What changes from now on, or from `Last-Event-ID` on, as server-sent events. The stream ends with the caller's token, or a
 * few minutes later at the latest; whoever follows comes back with what it has.
 */
export const followLog: Route = {
  ...readRoute('/v1/events/stream'),
  database: false, // where another object reads the log for all, a stream that is taken up again asks nothing
  handle: async (context, deps) => {
    const { cursor, queue } = readQuery(context, logStreamQuery);
    if (queue !== undefined) requireQueue(context, queue);
    // A browser that comes back sends what it has and takes no refusal for an answer.
    const header = context.req.header('last-event-id');
    const last = header === undefined || header === '' ? undefined : logCursor.safeParse(header);
    const stream = await deps.feed.open(
      defined({
        cursor: last === undefined ? cursor : last.data,
        lost: last?.success === false ? true : undefined,
        queue,
        queues: queuesOf(context),
        endsAt: context.get('expiresAtMs'),
      }),
    );
    return streamAnswer(stream);
  },
};

/** The event log of one job. */
export const readJobHistory: Route = {
  ...readRoute('/v1/jobs/:id/events'),
  handle: async (context, deps) => {
    const id = readParam(context, 'id', jobId);
    const query = readQuery(context, jobHistoryQuery);
    await requireJob(context, deps, id);
    const history = await jobHistory(deps.sql, defined({ jobId: id, ...query }));
    if (history === undefined) throw noSuchJob();
    return context.json({ events: history.events, next_after: history.nextAfter });
  },
};

/** The board as it was at a moment that has passed. */
export const readPastBoard: Route = {
  ...readRoute('/v1/board'),
  handle: async (context, deps) => {
    const query = readQuery(context, boardAtQuery);
    if (query.queue !== undefined) requireQueue(context, query.queue);
    return context.json(await boardAt(deps.sql, defined({ ...query, queues: queuesOf(context) })));
  },
};

function readRoute(path: string): Omit<Route, 'handle'> {
  return { method: 'GET', path, access: { kind: 'token', scope: 'read' }, database: true };
}
