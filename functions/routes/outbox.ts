import { defined } from '../../shared/defined.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { aggregateEventsIn } from '../../shared/inbox/aggregate-events.ts';
import { appendEvent } from '../../shared/outbox/append-event.ts';
import { eventsSince } from '../../shared/outbox/events-since.ts';
import { getOutboxEvent } from '../../shared/outbox/get-outbox-event.ts';
import { listOutboxEvents } from '../../shared/outbox/list-outbox-events.ts';
import { outboxMetrics } from '../../shared/outbox/outbox-metrics.ts';
import { aggregateId, aggregateType } from '../../shared/schemas/aggregate.ts';
import { appendEventRequest } from '../../shared/schemas/append-event-request.ts';
import { aggregateEventsQuery, eventFeedQuery } from '../../shared/schemas/event-feed-query.ts';
import { jobId } from '../../shared/schemas/job-id.ts';
import { listEventsQuery } from '../../shared/schemas/list-events-query.ts';
import { requireAllQueues } from '../middleware/queue-access.ts';
import { readJson } from '../middleware/read-json.ts';
import { readParam, readQuery } from '../middleware/read-query.ts';
import { pokeRelay } from '../relay/relay-poked.ts';
import type { Route } from './route.ts';

/**
 * Appends one event in a transaction of its own, for producers that have no rows of their own in this database: 201 when it
 * is new, 200 when this very event was there already.
 */
export const appendEventRoute: Route = {
  method: 'POST',
  path: '/v1/outbox/events',
  access: { kind: 'token', scope: 'enqueue' },
  database: true,
  handle: async (context, deps) => {
    const request = await readJson(context, appendEventRequest);
    requireAllQueues(context);
    const event = defined({
      id: request.id ?? deps.ids.uuidv7(),
      aggregateType: request.aggregate_type,
      aggregateId: request.aggregate_id,
      type: request.type,
      payload: request.payload,
      version: request.version,
      schemaVersion: request.schema_version,
      headers: { ...context.get('trace'), ...request.headers },
      occurredAt: request.occurred_at,
    });
    const { outcome, eventId, version, createdAt } = await appendEvent(deps.sql, {
      event,
      actor: context.get('actor'),
    });
    if (deps.config.insertPokes) pokeRelay(deps);
    context.header('location', `/v1/outbox/events/${eventId}`);
    return context.json(
      {
        id: eventId,
        outcome,
        aggregate_type: event.aggregateType,
        aggregate_id: event.aggregateId,
        version,
        created_at: createdAt.toISOString(),
      },
      outcome === 'appended' ? 201 : 200,
    );
  },
};

/** Events by state or by aggregate, by pages. */
export const listEvents: Route = {
  ...readRoute('/v1/outbox/events'),
  handle: async (context, deps) => {
    const query = readQuery(context, listEventsQuery);
    requireAllQueues(context);
    const page = await listOutboxEvents(
      deps.sql,
      defined({
        state: query.state,
        aggregateType: query.aggregate_type,
        aggregateId: query.aggregate_id,
        limit: query.limit,
        cursor: query.cursor,
      }),
    );
    return context.json({ events: page.events, next_cursor: page.nextCursor });
  },
};

/** One event with its payload and its log. */
export const readEvent: Route = {
  ...readRoute('/v1/outbox/events/:id'),
  handle: async (context, deps) => {
    const eventId = readParam(context, 'id', jobId);
    requireAllQueues(context);
    const event = await getOutboxEvent(deps.sql, { eventId });
    if (event === undefined) throw new LeaseholdError('not_found', 'No event has this id.');
    return context.json(event);
  },
};

/** Events after a cursor, for readers that keep one; none is ever skipped. */
export const readEventFeed: Route = {
  ...readRoute('/v1/outbox/feed'),
  handle: async (context, deps) => {
    const { cursor, limit } = readQuery(context, eventFeedQuery);
    requireAllQueues(context);
    const events = await eventsSince(deps.sql, defined({ cursor, limit }));
    return context.json({
      events: events.map((event) => ({
        ...fed(event),
        occurred_at: event.occurredAt.toISOString(),
        created_at: event.createdAt.toISOString(),
        payload_dropped: event.payloadDroppedAt !== null,
      })),
      next_cursor: events.at(-1)?.cursor ?? cursor ?? null,
    });
  },
};

/** The events of one aggregate after a version, in order: what a consumer asks for when one is missing. */
export const readAggregateEvents: Route = {
  ...readRoute('/v1/outbox/aggregates/:aggregate_type/:aggregate_id/events'),
  handle: async (context, deps) => {
    const aggregate = {
      aggregateType: readParam(context, 'aggregate_type', aggregateType),
      aggregateId: readParam(context, 'aggregate_id', aggregateId),
    };
    const { after_version: afterVersion, limit } = readQuery(context, aggregateEventsQuery);
    requireAllQueues(context);
    const events = await aggregateEventsIn(
      { run: ({ text, values }) => deps.sql.query(text, values) },
      { ...aggregate, afterVersion, limit },
    );
    return context.json({
      events: events.map((event) => ({
        ...fed(event),
        occurred_at: event.occurredAt,
        created_at: event.createdAt,
        payload_dropped: event.payloadDropped,
        state: event.state,
      })),
    });
  },
};

/** Numbers to watch; reading them wakes the database. */
export const readOutboxMetrics: Route = {
  ...readRoute('/v1/outbox/metrics'),
  handle: async (context, deps) => {
    requireAllQueues(context);
    return context.json(await outboxMetrics(deps.sql));
  },
};

function readRoute(path: string): Omit<Route, 'handle'> {
  return { method: 'GET', path, access: { kind: 'token', scope: 'read' }, database: true };
}

function fed(event: {
  readonly id: string;
  readonly aggregateType: string;
  readonly aggregateId: string;
  readonly version: number;
  readonly type: string;
  readonly schemaVersion: number;
  readonly payload?: unknown;
  readonly headers: object;
}): Record<string, unknown> {
  return {
    id: event.id,
    aggregate_type: event.aggregateType,
    aggregate_id: event.aggregateId,
    version: event.version,
    type: event.type,
    schema_version: event.schemaVersion,
    has_payload: event.payload !== undefined,
    payload: event.payload ?? null,
    headers: event.headers,
  };
}
