import type { JsonObject, JsonValue } from '../json-value.ts';

/**
 * - `held`: its own last try failed and it waits for the next, or it waits behind an event of its aggregate that did.
 * - `quarantined`: it is not tried again until a person decides; its aggregate waits behind it.
 * - `skipped`: a person decided that it is never published.
 */
export const OUTBOX_STATES = ['pending', 'held', 'quarantined', 'published', 'skipped'] as const;
export type OutboxState = (typeof OUTBOX_STATES)[number];

/** An event as lists show it; in the words of the API. Instants are ISO 8601. */
export interface OutboxEventSummary {
  readonly id: string;
  readonly state: OutboxState;
  readonly aggregate_type: string;
  readonly aggregate_id: string;
  readonly version: number;
  readonly type: string;
  readonly schema_version: number;
  readonly occurred_at: string;
  readonly created_at: string;
  readonly created_by: string;
  /** Tries so far. */
  readonly attempts: number;
  readonly last_error: JsonObject | null;
  readonly retry_at: string | null;
  /** The event of its aggregate that it waits behind. */
  readonly held_by: string | null;
  /** When it was published or skipped, and by whom. */
  readonly done_at: string | null;
  readonly done_by: string | null;
  readonly payload_dropped_at: string | null;
}

/** One event with everything about it. */
export interface OutboxEventDetails extends OutboxEventSummary {
  /** False: an event without a body, or one whose payload retention has taken (`payload_dropped_at`). */
  readonly has_payload: boolean;
  readonly payload: JsonValue;
  readonly headers: JsonObject;
  /** The newest 200 entries, oldest first. */
  readonly log: readonly OutboxLogEntry[];
}

export interface OutboxLogEntry {
  readonly at: string;
  readonly type: 'failed' | 'quarantined' | 'replayed' | 'skipped';
  readonly actor: string;
  readonly details: JsonObject | null;
}
