import { jetstream, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import type pg from 'pg';
import type { ProcessOutcome } from '../../../shared/inbox/process-once.ts';
import { processInOrder } from '../../../shared/inbox/process-in-order.ts';
import { isOrdered, readCloudEvent } from '../../../shared/inbox/read-cloud-event.ts';
import { reserveStock, type OrderEvent } from './reserve-stock.ts';

export interface ConsumeOrders {
  readonly connection: NatsConnection;
  readonly pool: pg.Pool;
  /** The stream, and the durable consumer of it that is ours. */
  readonly stream: string;
  readonly durable: string;
  /** Our name in the inbox. */
  readonly consumer: string;
  readonly signal: AbortSignal;
  /** Called when an event is committed (or was before), before it is acknowledged. */
  readonly committed?: (event: OrderEvent, end: ProcessOutcome<string>) => Promise<void> | void;
  /** Called when an event could not be applied: it comes again. */
  readonly failed?: (error: unknown) => void;
}

/** Events that the broker hands out ahead; those of different orders are applied side by side. */
const AHEAD = 50;
const AGAIN_AFTER_MS = 1000;

/**
 * Applies the events of a stream until the signal fires. Events of one order one after another, others beside them; an event
 * is acknowledged after its commit, so whatever dies on the way, it comes again, and the inbox knows it then.
 */
export async function consumeOrders(options: ConsumeOrders): Promise<void> {
  const { connection, stream, durable, signal } = options;
  const consumer = await jetstream(connection).consumers.get(stream, durable);
  const messages = await consumer.consume({ max_messages: AHEAD });
  const stop = (): void => messages.stop();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const lastOf = new Map<string, Promise<void>>();
  for await (const message of messages) {
    const event = read(message);
    if (event === undefined) {
      message.term('not an event of an order');
      continue;
    }
    const before = lastOf.get(event.aggregateId) ?? Promise.resolve();
    const mine = before.then(() => handle(options, message, event));
    lastOf.set(event.aggregateId, mine);
    void mine.then(() => {
      if (lastOf.get(event.aggregateId) === mine) lastOf.delete(event.aggregateId);
    });
  }
  await Promise.all(lastOf.values());
}

async function handle(options: ConsumeOrders, message: JsMsg, event: OrderEvent): Promise<void> {
  const { pool, consumer, signal } = options;
  try {
    const connection = { run: (one: Statement) => pool.query(one.text, [...one.values]) };
    const apply = async (one: OrderEvent): Promise<ProcessOutcome<string>> => {
      const end = await reserveStock(pool, { consumer, event: one });
      await options.committed?.(one, end);
      return end;
    };
    await processInOrder({ consumer, connection, apply, signal }, event);
    message.ack();
  } catch (error) {
    options.failed?.(error);
    message.nak(AGAIN_AFTER_MS);
  }
}

interface Statement {
  readonly text: string;
  readonly values: readonly (string | null)[];
}

function read(message: JsMsg): OrderEvent | undefined {
  const { headers } = message;
  const read = readCloudEvent({
    header: (name) => (headers?.has(name) ? headers.get(name) : undefined),
    body: message.string(),
  });
  return read.outcome === 'event' && isOrdered(read.event) ? read.event : undefined;
}
