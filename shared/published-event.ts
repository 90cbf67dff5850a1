import type { JsonObject, JsonValue } from './json-value.ts';

/** One event of the outbox, as a relay hands it to a publisher. */
export interface PublishedEvent {
  /** The event's name for ever: the same on every try and after a replay, so that receivers can drop repeats by it. */
  readonly id: string;
  readonly aggregateType: string;
  readonly aggregateId: string;
  /** 1 and up, without gaps but those of skipped events. */
  readonly version: number;
  readonly type: string;
  readonly schemaVersion: number;
  /** Undefined when the event has no body; `null` is the JSON value. */
  readonly payload: JsonValue | undefined;
  /**
   * The payload as JSON text, undefined with it. Publishers send this text: it keeps numbers that JavaScript would round,
   * and it is the same on every try.
   */
  readonly payloadJson: string | undefined;
  /** As the producer gave them, `traceparent` among them. */
  readonly headers: JsonObject;
  /** ISO 8601. */
  readonly occurredAt: string;
  readonly createdAt: string;
  /** This try, from 1. */
  readonly attempt: number;
}
