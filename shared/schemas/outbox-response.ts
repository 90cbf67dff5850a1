import { z } from 'zod';

import type { OutboxMetrics } from '../outbox/outbox-metrics.ts';
import { OUTBOX_STATES } from '../outbox/outbox-event.ts';
import type { OutboxEventDetails, OutboxEventSummary } from '../outbox/outbox-event.ts';
import {
  anyJson,
  anyObject,
  count,
  instantText,
  nextCursor,
  openEnum,
  uuidText,
} from './response-parts.ts';

/** An event that was appended, or was there already. */
export const appendedEventResponse = z.object({
  id: uuidText,
  outcome: openEnum(['appended', 'exists']),
  aggregate_type: z.string(),
  aggregate_id: z.string(),
  version: count,
  created_at: instantText,
});

const summaryFields = {
  id: uuidText,
  state: openEnum(OUTBOX_STATES),
  aggregate_type: z.string(),
  aggregate_id: z.string(),
  version: count,
  type: z.string(),
  schema_version: count,
  occurred_at: instantText,
  created_at: instantText,
  created_by: z.string(),
  attempts: count,
  last_error: anyObject.nullable(),
  retry_at: instantText.nullable(),
  held_by: uuidText.nullable(),
  done_at: instantText.nullable(),
  done_by: z.string().nullable(),
  payload_dropped_at: instantText.nullable(),
};

/** An event in lists, without its payload. */
export const eventSummaryResponse: z.ZodType<OutboxEventSummary> = z.object(summaryFields);

/** Everything about one event. */
export const eventResponse: z.ZodType<OutboxEventDetails> = z.object({
  ...summaryFields,
  has_payload: z.boolean(),
  payload: anyJson,
  headers: anyObject,
  log: z.array(
    z.object({
      at: instantText,
      type: openEnum(['failed', 'quarantined', 'replayed', 'skipped']),
      actor: z.string(),
      details: anyObject.nullable(),
    }),
  ),
});

export const eventPageResponse = z.object({
  events: z.array(eventSummaryResponse),
  next_cursor: nextCursor,
});

const fedFields = {
  id: uuidText,
  aggregate_type: z.string(),
  aggregate_id: z.string(),
  version: count,
  type: z.string(),
  schema_version: count,
  has_payload: z.boolean(),
  payload: anyJson,
  headers: anyObject,
  occurred_at: instantText,
  created_at: instantText,
  payload_dropped: z.boolean(),
};

/** Events after a cursor. `next_cursor` is never null: ask again with it later. */
export const eventFeedResponse = z.object({
  events: z.array(z.object(fedFields)),
  next_cursor: z.string().nullable(),
});

/** Events of one aggregate in the order of their versions. */
export const aggregateEventsResponse = z.object({
  events: z.array(z.object({ ...fedFields, state: openEnum(['pending', 'published', 'skipped']) })),
});

/** What became of each event that the request named. */
export const chosenEventsResponse = z.object({
  settled: count,
  events: z.array(
    z.object({ id: uuidText, outcome: openEnum(['replayed', 'skipped', 'not_quarantined']) }),
  ),
});

const cappedCount = z.object({ count, capped: z.boolean() });
const milliseconds = z.int().nullable();

export const outboxMetricsResponse: z.ZodType<OutboxMetrics> = z.object({
  oldest_unpublished_seconds: z.int().nullable(),
  pending: cappedCount,
  held: cappedCount,
  quarantined: cappedCount,
  last_minutes: z.object({
    published: count,
    tries: count,
    failures: count,
    failure_rate: z.number(),
    per_second: z.number(),
  }),
  batches: z.object({
    newest_at: instantText.nullable(),
    mean_ms: milliseconds,
    longest_ms: milliseconds,
    mean_events: milliseconds,
  }),
  consumers: z.array(
    z.object({
      consumer: z.string(),
      accepted: count,
      duplicates: count,
      last_at: instantText.nullable(),
      mean_lag_ms: milliseconds,
      longest_lag_ms: milliseconds,
      parked: count,
    }),
  ),
  tables: z.array(z.object({ table: z.string(), bytes: z.int(), rows: z.int() })),
  retention: z.object({
    oldest_event_at: instantText.nullable(),
    payloads_dropped_until: instantText.nullable(),
  }),
});

export type AppendedEventResponse = z.infer<typeof appendedEventResponse>;
export type EventPageResponse = z.infer<typeof eventPageResponse>;
export type EventFeedResponse = z.infer<typeof eventFeedResponse>;
export type AggregateEventsResponse = z.infer<typeof aggregateEventsResponse>;
export type ChosenEventsResponse = z.infer<typeof chosenEventsResponse>;
