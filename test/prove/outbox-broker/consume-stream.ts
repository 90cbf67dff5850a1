import { jetstream, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import type pg from 'pg';
import { processOnceIn } from '../../../shared/inbox/process-once.ts';
import { isOrdered, readCloudEvent } from '../../../shared/inbox/read-cloud-event.ts';
import type { OrderedEvent } from '../../../shared/inbox/receipt.ts';
import { pgTransaction } from '../../../shared/transaction/pg-transaction.ts';

const CONSUMER = 'ledger';
const AHEAD = 200;

/** What the consumer has seen. */
export interface Seen {
  messages: number;
  /** First deliveries whose predecessor had not been delivered. */
  outOfOrder: number;
  /** Events of the strict inbox that had to wait for another: none, if the order is kept. */
  gaps: number;
  /** Events that came more than once. */
  readonly repeated: Set<string>;
  readonly ids: Set<string>;
}

/** A consumer with an effect an event, in `effects`; acknowledges after the commit. Strict, so that nothing hides a gap. */
export async function consumeStream(options: {
  readonly connection: NatsConnection;
  readonly pool: pg.Pool;
  readonly stream: string;
  readonly signal: AbortSignal;
  readonly seen: Seen;
}): Promise<void> {
  const { seen, pool, signal } = options;
  const consumer = await jetstream(options.connection).consumers.get(options.stream, CONSUMER);
  const messages = await consumer.consume({ max_messages: AHEAD });
  signal.addEventListener('abort', () => messages.stop(), { once: true });
  const newest = new Map<string, number>();
  const lastOf = new Map<string, Promise<void>>();
  for await (const message of messages) {
    const event = read(message);
    seen.messages += 1;
    if (seen.ids.has(event.id)) {
      seen.repeated.add(event.id);
    } else {
      seen.ids.add(event.id);
      if (event.version !== (newest.get(event.aggregateId) ?? 0) + 1) seen.outOfOrder += 1;
      newest.set(event.aggregateId, event.version);
    }
    const before = lastOf.get(event.aggregateId) ?? Promise.resolve();
    lastOf.set(
      event.aggregateId,
      before.then(() => apply(pool, event, seen)).then(() => message.ack()),
    );
  }
  await Promise.all(lastOf.values());
}

async function apply(pool: pg.Pool, event: OrderedEvent, seen: Seen): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const receipt = { consumer: CONSUMER, event, policy: 'strict' } as const;
    const { outcome } = await processOnceIn(pgTransaction(client), receipt, () =>
      client.query('insert into effects (aggregate, version) values ($1, $2)', [
        event.aggregateId,
        event.version,
      ]),
    );
    await client.query('commit');
    if (outcome === 'gap') seen.gaps += 1;
  } finally {
    client.release();
  }
}

function read(message: JsMsg): OrderedEvent {
  const { headers } = message;
  const outcome = readCloudEvent({
    header: (name) => (headers?.has(name) ? headers.get(name) : undefined),
    body: message.string(),
  });
  if (outcome.outcome !== 'event' || !isOrdered(outcome.event)) {
    throw new Error('a message that is not an event');
  }
  return outcome.event;
}
