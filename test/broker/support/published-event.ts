import { uuidv7 } from 'uuidv7';
import type { PublishedEvent } from '../../../shared/published-event.ts';

/** An event as the relay hands it to a publisher. */
export function publishedEvent(overrides: Partial<PublishedEvent> = {}): PublishedEvent {
  return {
    id: uuidv7(),
    aggregateType: 'order',
    aggregateId: '42',
    version: 1,
    type: 'order.placed',
    schemaVersion: 1,
    payload: { total: 10 },
    payloadJson: '{"total": 10}',
    headers: {},
    occurredAt: '2026-11-30T10:00:00.000Z',
    createdAt: '2026-11-30T10:00:00.100Z',
    attempt: 1,
    ...overrides,
  };
}
