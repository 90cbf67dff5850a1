import type { JsonObject, JsonValue } from '../json-value.ts';

/** One event to append to the outbox, in the transaction of the rows that it tells about. */
export interface NewEvent {
  /** UUID version 7 within a day of the database clock: the event's name for ever. Keep it, and a repeat is the same event. */
  readonly id: string;
  /** 1 to 128 characters, e.g. `order`. */
  readonly aggregateType: string;
  /** 1 to 200 characters. */
  readonly aggregateId: string;
  /** 1 to 128 characters, e.g. `order.placed`. */
  readonly type: string;
  /** Up to 2 MiB as jsonb; left out: an event without a body, which is not the same as `null`. */
  readonly payload?: JsonValue;
  /** The version of the aggregate that this event makes; left out: the next one. The first is 1; a gap or a repeat is refused. */
  readonly version?: number;
  /** Of the payload; 1 and up, default 1. */
  readonly schemaVersion?: number;
  /** Small object kept with the event, e.g. its trace context. */
  readonly headers?: JsonObject;
  /** ISO 8601 with an offset: when it happened, where that is not now. */
  readonly occurredAt?: string;
}

/** The answer for one event. */
export interface AppendedEvent {
  /** `exists`: the same event was there already, and nothing changed. */
  readonly outcome: 'appended' | 'exists';
  readonly eventId: string;
  readonly version: number;
  readonly createdAt: Date;
}

/** The arguments of `leasehold.append_event`, each as text or null, in order. */
export function newEventValues(event: NewEvent, actor: string): (string | null)[] {
  return [
    event.id,
    event.aggregateType,
    event.aggregateId,
    event.type,
    event.payload === undefined ? null : JSON.stringify(event.payload),
    event.version === undefined ? null : String(event.version),
    String(event.schemaVersion ?? 1),
    JSON.stringify(event.headers ?? {}),
    event.occurredAt ?? null,
    actor,
  ];
}
