import type { z } from 'zod';

import type { OutboxEventDetails } from '../outbox/outbox-event.ts';
import type { OutboxMetrics } from '../outbox/outbox-metrics.ts';
import type { Ids } from '../ports.ts';
import type { appendEventRequest } from '../schemas/append-event-request.ts';
import type { chosenEventsRequest } from '../schemas/chosen-events-request.ts';
import type { listEventsQuery } from '../schemas/list-events-query.ts';
import {
  aggregateEventsResponse,
  appendedEventResponse,
  chosenEventsResponse,
  eventFeedResponse,
  eventPageResponse,
  eventResponse,
  outboxMetricsResponse,
} from '../schemas/outbox-response.ts';
import type {
  AggregateEventsResponse,
  AppendedEventResponse,
  ChosenEventsResponse,
  EventFeedResponse,
  EventPageResponse,
} from '../schemas/outbox-response.ts';
import { orOn } from './outcomes.ts';
import type { PageQuery } from './queue-calls.ts';
import type { CallOptions, Transport } from './transport.ts';

type ChosenEvents = z.input<typeof chosenEventsRequest>;

export interface OutboxCalls {
  /**
   * Appends one event in a transaction of its own. Without an `id` one is made here, so that the repeats of this call are
   * one event.
   *
   * @throws {LeaseholdApiError} `version_conflict` with `expected_version` among its facts; `event_id_conflict`
   */
  append(
    event: z.input<typeof appendEventRequest>,
    options?: CallOptions,
  ): Promise<AppendedEventResponse>;
  /** What waits oldest first, everything else newest first. */
  list(
    query?: PageQuery & Omit<z.input<typeof listEventsQuery>, 'limit' | 'cursor'>,
    options?: CallOptions,
  ): Promise<EventPageResponse>;
  /** With its payload and its log; undefined when no event has the id. */
  get(id: string, options?: CallOptions): Promise<OutboxEventDetails | undefined>;
  /** Lets 1 to 100 quarantined events be tried again. */
  replay(order: ChosenEvents, options?: CallOptions): Promise<ChosenEventsResponse>;
  /** Gives 1 to 100 quarantined events up. */
  skip(order: ChosenEvents, options?: CallOptions): Promise<ChosenEventsResponse>;
  /** Events after a cursor; ask again later with `next_cursor`. */
  feed(query?: PageQuery, options?: CallOptions): Promise<EventFeedResponse>;
  /** Events of one aggregate after a version, in order. */
  aggregateEvents(
    aggregateType: string,
    aggregateId: string,
    query?: { readonly after_version?: number; readonly limit?: number },
    options?: CallOptions,
  ): Promise<AggregateEventsResponse>;
  /** Numbers to watch; each call wakes a database that sleeps. */
  metrics(options?: CallOptions): Promise<OutboxMetrics>;
}

export function outboxCalls(transport: Transport, ids: Ids): OutboxCalls {
  const decide = async (
    verb: string,
    body: ChosenEvents,
    options: CallOptions = {},
  ): Promise<ChosenEventsResponse> => {
    const call = { method: 'POST', path: `/v1/outbox/${verb}`, body, keyed: true } as const;
    return (await transport({ ...call, answer: chosenEventsResponse, ...options })).value;
  };
  return {
    append: async (event, options) => {
      const call = {
        method: 'POST',
        path: '/v1/outbox/events',
        body: { ...event, id: event.id ?? ids.uuidv7() },
        keyed: true,
        answer: appendedEventResponse,
      } as const;
      return (await transport({ ...call, ...options })).value;
    },
    list: async (query = {}, options) => {
      const call = { method: 'GET', path: '/v1/outbox/events', query: { ...query } } as const;
      return (await transport({ ...call, answer: eventPageResponse, ...options })).value;
    },
    get: async (id, options) => {
      const path = `/v1/outbox/events/${encodeURIComponent(id)}`;
      const call = { method: 'GET', path, answer: eventResponse } as const;
      return (await orOn('not_found', undefined, transport({ ...call, ...options })))?.value;
    },
    replay: (order, options) => decide('replay', order, options),
    skip: (order, options) => decide('skip', order, options),
    feed: async (query = {}, options) => {
      const call = { method: 'GET', path: '/v1/outbox/feed', query: { ...query } } as const;
      return (await transport({ ...call, answer: eventFeedResponse, ...options })).value;
    },
    aggregateEvents: async (type, id, query = {}, options) => {
      const path = `/v1/outbox/aggregates/${encodeURIComponent(type)}/${encodeURIComponent(id)}/events`;
      const call = { method: 'GET', path, query: { ...query } } as const;
      return (await transport({ ...call, answer: aggregateEventsResponse, ...options })).value;
    },
    metrics: async (options) => {
      const call = { method: 'GET', path: '/v1/outbox/metrics' } as const;
      return (await transport({ ...call, answer: outboxMetricsResponse, ...options })).value;
    },
  };
}
