import { aggregateId, aggregateType } from '../schemas/aggregate.ts';
import { aggregateEventsQuery, eventFeedQuery } from '../schemas/event-feed-query.ts';
import { jobId } from '../schemas/job-id.ts';
import { listEventsQuery } from '../schemas/list-events-query.ts';
import { JOB_ID } from './examples.ts';
import type { Operation } from './operation.ts';

const tag = 'Outbox';
const CHOSEN = { event_ids: [JOB_ID], reason: 'The receiver knows version 2 now.' };

export const OUTBOX_OPERATIONS: readonly Operation[] = [
  {
    id: 'appendEvent',
    method: 'post',
    path: '/v1/outbox/events',
    tag,
    summary: 'Append an event',
    description:
      'In a transaction of its own. A producer with rows in this database appends in their transaction instead (docs/outbox.md). Repeated with the same id and content it changes nothing. A `version` that is not the next one is refused with `expected_version`.',
    access: 'enqueue',
    database: true,
    body: {
      schema: 'AppendEventRequest',
      example: {
        aggregate_type: 'order',
        aggregate_id: '42',
        type: 'order.placed',
        payload: { total: 10 },
      },
    },
    success: {
      201: { description: 'It is appended.', schema: 'AppendedEvent', location: true },
      200: { description: 'It was there.', schema: 'AppendedEvent', location: true },
    },
    errors: ['event_id_conflict', 'version_conflict'],
  },
  {
    id: 'listEvents',
    method: 'get',
    path: '/v1/outbox/events',
    tag,
    summary: 'List events',
    description:
      'What waits (`pending`, `held`, `quarantined`) oldest first, everything else newest first. A page may be short and still have a cursor.',
    access: 'read',
    database: true,
    query: listEventsQuery,
    success: { 200: { description: 'A page of events.', schema: 'EventPage' } },
  },
  {
    id: 'getEvent',
    method: 'get',
    path: '/v1/outbox/events/{id}',
    tag,
    summary: 'Read an event',
    description: 'With its payload, and its log: tries that failed, quarantine, replays, skips.',
    access: 'read',
    database: true,
    params: { id: jobId },
    success: { 200: { description: 'The event.', schema: 'Event' } },
    errors: ['not_found'],
  },
  {
    id: 'replayEvents',
    method: 'post',
    path: '/v1/outbox/replay',
    tag,
    summary: 'Try chosen quarantined events again',
    description:
      'With fresh attempts and under the same ids. What waits behind them in their aggregates follows.',
    access: 'operate',
    database: true,
    body: { schema: 'ChosenEventsRequest', example: CHOSEN },
    success: {
      200: {
        description: 'What became of each.',
        schema: 'ChosenEvents',
        example: { settled: 1, events: [{ id: JOB_ID, outcome: 'replayed' }] },
      },
    },
  },
  {
    id: 'skipEvents',
    method: 'post',
    path: '/v1/outbox/skip',
    tag,
    summary: 'Give chosen quarantined events up',
    description:
      'They are never published. Their aggregates go on behind them, and consumers see a gap in the versions.',
    access: 'operate',
    database: true,
    body: { schema: 'ChosenEventsRequest', example: { ...CHOSEN, reason: 'Test data.' } },
    success: {
      200: {
        description: 'What became of each.',
        schema: 'ChosenEvents',
        example: { settled: 1, events: [{ id: JOB_ID, outcome: 'skipped' }] },
      },
    },
  },
  {
    id: 'readEventFeed',
    method: 'get',
    path: '/v1/outbox/feed',
    tag,
    summary: 'Read events after a cursor',
    description:
      'Published or not; none is ever skipped. The feed ends below the oldest transaction that still runs, so a long one delays what comes after it. Ask again later with `next_cursor`. In an aggregate go by the versions.',
    access: 'read',
    database: true,
    query: eventFeedQuery,
    success: { 200: { description: 'Events, perhaps none.', schema: 'EventFeed' } },
  },
  {
    id: 'readAggregateEvents',
    method: 'get',
    path: '/v1/outbox/aggregates/{aggregate_type}/{aggregate_id}/events',
    tag,
    summary: 'Read the events of an aggregate',
    description:
      'After a version, in order: what a consumer asks for when one is missing. One that was `skipped` has no effect and is stepped over.',
    access: 'read',
    database: true,
    params: { aggregate_type: aggregateType, aggregate_id: aggregateId },
    query: aggregateEventsQuery,
    success: { 200: { description: 'Its events.', schema: 'AggregateEvents' } },
  },
  {
    id: 'readOutboxMetrics',
    method: 'get',
    path: '/v1/outbox/metrics',
    tag,
    summary: 'Read the numbers of outbox and inbox',
    description:
      'From bounded reads: counts stop at 10,000. Each call wakes a database that sleeps.',
    access: 'read',
    database: true,
    success: { 200: { description: 'The numbers.', schema: 'OutboxMetrics' } },
  },
];
