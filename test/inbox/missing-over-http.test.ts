/** A strict consumer with a database of its own asks the producer's API for what it has missed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { missingOverHttp } from '../../shared/inbox/missing-events.ts';
import { processInOrder } from '../../shared/inbox/process-in-order.ts';
import { createClientHarness, type ClientHarness } from '../client/support/client-harness.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  append,
  appliedVersions,
  createApplied,
  orderedConsumer,
  orderEvents,
} from './support/ordered-consumer.ts';

let producer: ClientHarness;
let own: TestDatabase;
beforeAll(async () => {
  producer = await createClientHarness();
  own = await createTestDatabase();
  await createApplied(own.pool);
});
afterAll(async () => {
  await own.drop();
  await producer.close();
});

test('S4.4 missing events come over HTTP, a skipped one is stepped over', async () => {
  const events = orderEvents(6, 'a/b ü?');
  const { pool } = producer.app.database;
  await append(pool, events);
  await pool.query('delete from leasehold.outbox_pending where event_id = $1', [events[2]?.id]);
  await pool.query(
    `insert into leasehold.outbox_published (event_id, outcome, at, attempts, by)
     values ($1, 'skipped', now(), 1, 'ana')`,
    [events[2]?.id],
  );
  const payloads: unknown[] = [];
  const consumer = orderedConsumer(own.pool, {
    missing: missingOverHttp(producer.client.outbox, (event) => {
      payloads.push(event.payload);
      return event;
    }),
  });
  const [first, last] = [events[0], events[5]];
  if (first === undefined || last === undefined) throw new RangeError('no events');
  await processInOrder(consumer, first);
  expect(await processInOrder(consumer, last)).toEqual({ outcome: 'applied' });
  const place = { ...consumer, aggregate: first.aggregateId };
  expect(await appliedVersions(own.pool, place)).toEqual([1, 2, 4, 5, 6]);
  expect(payloads).toEqual([{ version: 2 }, { version: 4 }, { version: 5 }]);
});

test('an API that refuses is thrown on: the delivery comes again', async () => {
  const stranger = producer.clientWith({ token: 'nobody' });
  const consumer = orderedConsumer(own.pool, {
    missing: missingOverHttp(stranger.outbox, (event) => event),
  });
  const [, second] = orderEvents(2);
  if (second === undefined) throw new RangeError('no events');
  await expect(processInOrder(consumer, second)).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});
