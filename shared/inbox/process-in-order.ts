import type { Transaction } from '../transaction/statement.ts';
import { acceptIn } from './accept-event.ts';
import { nextParkedIn, parkIn } from './park-event.ts';
import type { ProcessOutcome } from './process-once.ts';
import type { OrderedEvent, Receipt } from './receipt.ts';

/** Versions of an aggregate that have not come: `from`, and so on up to the one before `before`. */
export interface Gap {
  readonly aggregateType: string;
  readonly aggregateId: string;
  readonly from: number;
  readonly before: number;
}

/** An event that was asked for. A skipped one has no effect: it is recorded and stepped over. */
export type MissingEvent<Event> = { readonly event: Event } | { readonly skipped: OrderedEvent };

export interface OrderedConsumer<Event extends OrderedEvent> {
  readonly consumer: string;
  readonly sender?: string | undefined;
  /** For single statements, each a transaction of its own. */
  readonly connection: Transaction;
  /** `processOnce` or `processOnceIn` with the policy `strict`, for this consumer and sender; resolves after the commit. */
  apply(event: Event): Promise<ProcessOutcome<unknown>>;
  /**
   * Asks the producer for what is missing, oldest first; those that it does not have are left out. Without it, a parked
   * event waits for the delivery of its predecessors.
   */
  missing?(gap: Gap): Promise<readonly MissingEvent<Event>[]>;
  readonly signal?: AbortSignal | undefined;
}

export type OrderedOutcome =
  | { readonly outcome: 'applied' | 'duplicate' | 'stale' }
  /** It waits in the database for this version. */
  | { readonly outcome: 'parked'; readonly missingVersion: number };

/**
 * Applies events in the order of their versions, however they come: one that is too early is parked, what is missing before
 * it is asked for, and what it was waiting for takes it along. Each is applied once, in a transaction of its own.
 * Acknowledge the delivery when this resolves: then the event is applied, or parked in the database.
 *
 * @param event can be kept as JSON, all of it
 * @throws what `apply` and `missing` throw. Do not acknowledge then: the delivery that comes again goes on where this ended
 * @example
 * await processInOrder({ consumer: 'inventory', connection, apply, missing }, event);
 * message.ack();
 */
export async function processInOrder<Event extends OrderedEvent>(
  consumer: OrderedConsumer<Event>,
  event: Event,
): Promise<OrderedOutcome> {
  let missingVersion: number | undefined;
  let { outcome } = await consumer.apply(event);
  while (outcome === 'gap') {
    consumer.signal?.throwIfAborted();
    missingVersion = await parkIn(consumer.connection, receiptOf(consumer, event));
    if (missingVersion !== undefined) break;
    ({ outcome } = await consumer.apply(event)); // its predecessor was applied in between
  }
  if (outcome !== 'gap') {
    await applyParked(consumer, event);
    return { outcome };
  }
  const next = await fill(consumer, event, missingVersion ?? event.version);
  const applied = await applyParked(consumer, event);
  return applied.has(event.version)
    ? { outcome: 'applied' }
    : {
        outcome: 'parked',
        missingVersion: Math.max(next, ...[...applied].map((version) => version + 1)),
      };
}

/** Asks for the versions before an event and applies them; gives the first that is missing still. */
async function fill<Event extends OrderedEvent>(
  consumer: OrderedConsumer<Event>,
  { aggregateType, aggregateId, version: before }: OrderedEvent,
  first: number,
): Promise<number> {
  let from = first;
  while (consumer.missing !== undefined && from < before) {
    consumer.signal?.throwIfAborted();
    const asked = from;
    for (const found of await consumer.missing({ aggregateType, aggregateId, from, before })) {
      const { version } = 'event' in found ? found.event : found.skipped;
      if (version < from) continue;
      if (version > from || version >= before) break;
      const { outcome } = await ('event' in found
        ? consumer.apply(found.event)
        : acceptIn(consumer.connection, receiptOf(consumer, found.skipped)));
      if (outcome === 'gap') break;
      from = version + 1;
    }
    if (from === asked) break;
  }
  return from;
}

/** Applies what waits right behind the newest version, one after another; gives the versions. */
async function applyParked<Event extends OrderedEvent>(
  consumer: OrderedConsumer<Event>,
  { aggregateType, aggregateId }: OrderedEvent,
): Promise<Set<number>> {
  const place = { ...consumer, aggregateType, aggregateId };
  const applied = new Set<number>();
  for (;;) {
    consumer.signal?.throwIfAborted();
    const parked = await nextParkedIn(consumer.connection, place);
    if (parked === undefined) return applied;
    const event = parked as unknown as Event; // as this consumer parked it
    if (applied.has(event.version)) return applied;
    if ((await consumer.apply(event)).outcome === 'gap') return applied;
    applied.add(event.version);
  }
}

function receiptOf<Event extends OrderedEvent>(
  { consumer, sender }: OrderedConsumer<Event>,
  event: Event,
): Receipt & { readonly event: Event } {
  return { consumer, sender, event, policy: 'strict' };
}
