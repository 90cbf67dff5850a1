/** From an order to its stock over a real broker, with the relay and the consumer of this project and of its example. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { AckPolicy, type JetStreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/nats-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { consumeOrders } from '../../docs/examples/orders/consume-orders.ts';
import { changeQuantity, placeOrder } from '../../docs/examples/orders/place-orders.ts';
import { createTables } from '../../docs/examples/orders/tables.ts';
import { tally } from '../../docs/examples/orders/tally.ts';
import { createNatsPublisher } from '../../functions/publish/nats.ts';
import type { Publisher } from '../../shared/publish/publisher.ts';
import { expireShards, makeHoldsDue, pendingCount, relay } from '../outbox/support/outbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startBroker, stored, type Broker } from './support/broker.ts';
import { withBroker } from './support/with-broker.ts';

const STREAM = 'EVENTS';
const ACKNOWLEDGE_WITHIN_MS = 500;

withBroker('orders over NATS', () => {
  let db: TestDatabase;
  let broker: Broker;
  let manager: JetStreamManager;
  let publisher: Publisher;
  const children = new Set<ChildProcess>();
  beforeAll(async () => {
    db = await createTestDatabase();
    await createTables(db.pool);
    broker = await startBroker();
    publisher = createNatsPublisher({
      connect: () => broker.connect(),
      prefix: 'events',
      source: '/orders',
    });
  });
  beforeEach(async () => {
    await db.pool.query(`truncate orders, stock, reservations, leasehold.outbox_events,
      leasehold.outbox_pending, leasehold.outbox_published, leasehold.outbox_holds, leasehold.aggregates,
      leasehold.inbox_events, leasehold.inbox_versions, leasehold.inbox_parked`);
    manager = await broker.manage();
    await manager.streams.delete(STREAM).catch(() => false);
    await manager.streams.add({ name: STREAM, subjects: ['events.>'] });
    await addConsumer('inventory');
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await publisher.close?.();
    await broker.close();
    await db.drop();
  });

  async function addConsumer(durable: string): Promise<void> {
    await manager.consumers.add(STREAM, {
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ACKNOWLEDGE_WITHIN_MS),
    });
  }

  /** A consumer of this process, until that many deliveries were committed. */
  async function consume(deliveries: number): Promise<string[]> {
    const stop = new AbortController();
    const outcomes: string[] = [];
    await consumeOrders({
      connection: await broker.connect(),
      pool: db.pool,
      stream: STREAM,
      durable: 'inventory',
      consumer: 'inventory',
      signal: stop.signal,
      committed: (_event, { outcome }) => {
        outcomes.push(outcome);
        if (outcomes.length === deliveries) stop.abort();
      },
    });
    return outcomes;
  }

  interface Committed {
    readonly id: string;
    readonly outcome: string;
  }

  function consumerProcess({ durable = 'inventory', hold = false } = {}): {
    child: ChildProcess;
    next(): Promise<Committed>;
  } {
    const file = fileURLToPath(new URL('./support/consumer-process.ts', import.meta.url));
    const args = [db.pgUrl, broker.server.address, durable, hold ? 'hold' : ''];
    const child = fork(file, args, {
      execArgv: ['--experimental-strip-types', '--no-warnings'],
    });
    children.add(child);
    return {
      child,
      next: async () => ((await once(child, 'message')) as [Committed])[0],
    };
  }

  async function kill(child: ChildProcess): Promise<void> {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  test('S4.1 S4.5 orders become stock, once each, and a rolled-back order is never heard of', async () => {
    for (let at = 1; at <= 10; at += 1) {
      await placeOrder(db.pool, { id: `order-${at}`, sku: 'lamp', quantity: at });
      await changeQuantity(db.pool, `order-${at}`, at + 1);
    }
    await expect(
      placeOrder(db.pool, { id: 'order-x', sku: 'lamp', quantity: 2 ** 40 }),
    ).rejects.toThrow('out of range');
    expect(await relay(db.sql, publisher)).toMatchObject({ published: 20, failed: 0 });
    expect(await consume(20)).toEqual(Array<string>(20).fill('applied'));
    expect(await tally(db.pool)).toEqual({
      orders: 10,
      events: 20,
      published: 20,
      applied: 20,
      duplicates: 0,
      wrong: 0,
      stockIsRight: true,
    });
  });

  test('S4.3 boundary: broker down, published later, in order and once', async () => {
    await placeOrder(db.pool, { id: 'order-1', sku: 'lamp', quantity: 1 });
    await changeQuantity(db.pool, 'order-1', 5);
    await placeOrder(db.pool, { id: 'order-2', sku: 'teapot', quantity: 2 });
    await broker.server.stop();
    const down = await relay(db.sql, publisher);
    expect(down).toMatchObject({ published: 0, quarantined: 0 });
    expect(await pendingCount(db.pool)).toBe(3);
    await broker.server.restart();
    await expireShards(db.pool);
    for (let published = 0; published < 3;) {
      await makeHoldsDue(db.pool);
      published += (await relay(db.sql, publisher)).published;
    }
    manager = await broker.manage();
    const versions = (await stored(manager, STREAM))
      .filter(({ headers }) => headers['ce-aggregateid'] === 'order-1')
      .map(({ headers }) => headers['ce-aggregateversion']);
    expect(versions).toEqual(['1', '2']);
    expect(await consume(3)).toEqual(['applied', 'applied', 'applied']);
    expect(await tally(db.pool)).toMatchObject({ applied: 3, wrong: 0, stockIsRight: true });
  });

  test('S4.3 boundary: crash before the mark, a duplicate with the same id, which has no second effect', async () => {
    // The window of the stream is the first net; without it the repeat reaches the consumer.
    await manager.streams.update(STREAM, { duplicate_window: nanos(100) });
    await placeOrder(db.pool, { id: 'order-1', sku: 'lamp', quantity: 1 });
    const crashing: Publisher = {
      publish: async (event, options) => {
        await publisher.publish(event, options);
        throw new Error('crashed before the mark');
      },
    };
    await relay(db.sql, crashing);
    await new Promise((resolve) => setTimeout(resolve, 150)); // the window
    await expireShards(db.pool);
    await makeHoldsDue(db.pool);
    expect(await relay(db.sql, publisher)).toMatchObject({ published: 1 });
    const messages = await stored(manager, STREAM);
    expect(messages).toHaveLength(2);
    expect(new Set(messages.map(({ headers }) => headers['ce-id'])).size).toBe(1);
    expect((await consume(2)).toSorted()).toEqual(['applied', 'duplicate']);
    expect(await tally(db.pool)).toMatchObject({ applied: 1, duplicates: 1, stockIsRight: true });
  });

  test('S4.5 a consumer killed after its commit and before the acknowledgement: the event comes again, without a second effect', async () => {
    await placeOrder(db.pool, { id: 'order-1', sku: 'lamp', quantity: 3 });
    await relay(db.sql, publisher);
    const held = consumerProcess({ hold: true });
    const first = await held.next();
    expect(first.outcome).toBe('applied');
    await kill(held.child);
    expect(await manager.consumers.info(STREAM, 'inventory')).toMatchObject({ num_ack_pending: 1 });
    const second = consumerProcess();
    expect(await second.next()).toEqual({ id: first.id, outcome: 'duplicate' });
    await untilAcknowledged();
    await kill(second.child);
    expect(await tally(db.pool)).toMatchObject({ applied: 1, duplicates: 1, stockIsRight: true });
  });

  test('S4.5 boundary: the duplicate delivered to two consumers at once has one effect', async () => {
    await addConsumer('inventory-too');
    const both = ['inventory', 'inventory-too'].map((durable) => consumerProcess({ durable }));
    const heard = both.map(({ next }) => next());
    await placeOrder(db.pool, { id: 'order-1', sku: 'lamp', quantity: 3 });
    await relay(db.sql, publisher);
    const [one, other] = await Promise.all(heard);
    expect(one?.id).toBe(other?.id);
    expect(new Set([one?.outcome, other?.outcome])).toEqual(new Set(['applied', 'duplicate']));
    await Promise.all(both.map(({ child }) => kill(child)));
    expect(await tally(db.pool)).toMatchObject({ applied: 1, duplicates: 1, stockIsRight: true });
  });

  test('a broker that is stopped under the consumer and started again loses nothing', async () => {
    for (let at = 1; at <= 5; at += 1) {
      await placeOrder(db.pool, { id: `order-${at}`, sku: 'lamp', quantity: at });
    }
    await relay(db.sql, publisher);
    const consumer = consumerProcess({ hold: true }); // holds everything unacknowledged
    await consumer.next();
    await broker.server.kill();
    await kill(consumer.child);
    await broker.server.restart();
    await placeOrder(db.pool, { id: 'order-6', sku: 'lamp', quantity: 6 });
    await relay(db.sql, publisher);
    const late = consumerProcess();
    await untilApplied(6);
    await kill(late.child);
    expect(await tally(db.pool)).toMatchObject({ applied: 6, wrong: 0, stockIsRight: true });
  });

  async function until(holds: () => Promise<boolean>): Promise<void> {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async function untilApplied(count: number): Promise<void> {
    await until(async () => (await tally(db.pool)).applied === count);
  }

  async function untilAcknowledged(): Promise<void> {
    await until(
      async () => (await manager.consumers.info(STREAM, 'inventory')).num_ack_pending === 0,
    );
  }
});
