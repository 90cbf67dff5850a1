/** The strict policy with a parking place: whatever comes in whatever order, effects come in the order of the versions. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingFromOutbox } from '../../shared/inbox/missing-events.ts';
import { processInOrder, type Gap } from '../../shared/inbox/process-in-order.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  append,
  appliedVersions,
  createApplied,
  orderedConsumer,
  orderEvents,
  poolConnection,
  type OrderEvent,
} from './support/ordered-consumer.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await createApplied(db.pool);
});
afterAll(() => db.drop());

async function parked(): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>(
    'select count(*)::int as n from leasehold.inbox_parked',
  );
  return rows[0]?.n ?? -1;
}

function numbers(to: number): number[] {
  return Array.from({ length: to }, (_, at) => at + 1);
}

function at(events: readonly OrderEvent[], version: number): OrderEvent {
  const event = events[version - 1];
  if (event === undefined) throw new RangeError(`no version ${version}`);
  return event;
}

describe('leasehold.park_event and leasehold.parked_event', () => {
  test('S4.4 versions out of order under strict: a gap is parked, and goes once its predecessor is applied', async () => {
    const events = orderEvents(4);
    const { aggregateId: aggregate } = at(events, 1);
    const consumer = orderedConsumer(db.pool);
    const outcomes = [];
    for (const version of [1, 4, 3, 4, 2, 3]) {
      outcomes.push(await processInOrder(consumer, at(events, version)));
    }
    expect(outcomes).toEqual([
      { outcome: 'applied' },
      { outcome: 'parked', missingVersion: 2 },
      { outcome: 'parked', missingVersion: 2 },
      { outcome: 'parked', missingVersion: 2 },
      { outcome: 'applied' },
      { outcome: 'duplicate' },
    ]);
    expect(await appliedVersions(db.pool, { ...consumer, aggregate })).toEqual([1, 2, 3, 4]);
    expect(await parked()).toBe(0);
  });

  test('S4.5 any order, with any repeats: each version has its effect once, in order', async () => {
    const deliveries = fc
      .integer({ min: 1, max: 7 })
      .chain((count) =>
        fc
          .tuple(
            fc.shuffledSubarray(numbers(count), { minLength: count }),
            fc.array(fc.integer({ min: 1, max: count }), { maxLength: 6 }),
          )
          .map(([order, repeats]) => ({ count, order: [...repeats, ...order] })),
      );
    await fc.assert(
      fc.asyncProperty(deliveries, async ({ count, order }) => {
        const events = orderEvents(count);
        const consumer = orderedConsumer(db.pool);
        for (const version of order) await processInOrder(consumer, at(events, version));
        const { aggregateId: aggregate } = at(events, 1);
        expect(await appliedVersions(db.pool, { ...consumer, aggregate })).toEqual(numbers(count));
        expect(await parked()).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  test('S4.5 the same, delivered to four at once', async () => {
    const count = 12;
    const events = orderEvents(count);
    const consumer = orderedConsumer(db.pool);
    const order = [12, 3, 7, 1, 9, 5, 2, 11, 4, 6, 10, 8, ...numbers(count)].values();
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (const version of order) await processInOrder(consumer, at(events, version));
      }),
    );
    const { aggregateId: aggregate } = at(events, 1);
    expect(await appliedVersions(db.pool, { ...consumer, aggregate })).toEqual(numbers(count));
    expect(await parked()).toBe(0);
  });

  test('S4.5 a consumer that dies after the effect, before what waited: the repeat takes it along', async () => {
    const events = orderEvents(3);
    const consumer = orderedConsumer(db.pool);
    await processInOrder(consumer, at(events, 2));
    await processInOrder(consumer, at(events, 3));
    await consumer.apply(at(events, 1)); // and here it died: nothing was acknowledged
    expect(await processInOrder(consumer, at(events, 1))).toEqual({ outcome: 'duplicate' });
    const { aggregateId: aggregate } = at(events, 1);
    expect(await appliedVersions(db.pool, { ...consumer, aggregate })).toEqual([1, 2, 3]);
  });

  test('an event whose predecessor is applied between the gap and the parking is applied at once', async () => {
    const events = orderEvents(2);
    const other = orderedConsumer(db.pool);
    const consumer = orderedConsumer(db.pool, { consumer: other.consumer });
    let meanwhile = async (): Promise<unknown> => await processInOrder(other, at(events, 1));
    const apply = async (event: OrderEvent): ReturnType<typeof consumer.apply> => {
      const end = await consumer.apply(event);
      if (end.outcome === 'gap') await meanwhile();
      meanwhile = () => Promise.resolve();
      return end;
    };
    expect(await processInOrder({ ...consumer, apply }, at(events, 2))).toEqual({
      outcome: 'applied',
    });
    const { aggregateId: aggregate } = at(events, 1);
    expect(await appliedVersions(db.pool, { ...consumer, aggregate })).toEqual([1, 2]);
    expect(await parked()).toBe(0);
    const { rows } = await db.pool.query<{ missing: string | null }>(
      `select leasehold.park_event($1, 'x', 'order', $2, 3, '{}') as missing`,
      [consumer.consumer, aggregate],
    );
    expect(rows).toEqual([{ missing: null }]);
    expect(await parked()).toBe(0);
  });

  test('two senders have one aggregate each of the same name', async () => {
    const events = orderEvents(2);
    const shop = orderedConsumer(db.pool, { consumer: 'both', sender: 'shop' });
    const bank = orderedConsumer(db.pool, { consumer: 'both', sender: 'bank' });
    await processInOrder(shop, at(events, 2));
    expect(await processInOrder(bank, at(events, 1))).toEqual({ outcome: 'applied' });
    expect(await parked()).toBe(1);
    expect(await processInOrder(shop, at(events, 1))).toEqual({ outcome: 'applied' });
    const { aggregateId: aggregate } = at(events, 1);
    expect(await appliedVersions(db.pool, { consumer: 'both', aggregate })).toEqual([1, 1, 2]);
    expect(await parked()).toBe(0);
  });

  test.each<[string, unknown[], string]>([
    ['no version', ['c', 'id', 'order', '1', null, {}], 'version: '],
    ['no aggregate', ['c', 'id', 'order', null, 2, {}], 'version: '],
    ['no event', ['c', 'id', 'order', '1', 2, null], 'event: '],
    ['no consumer', ['', 'id', 'order', '1', 2, {}], 'consumer: '],
    ['an id of 10 KB', ['c', 'x'.repeat(10_240), 'order', '1', 2, {}], 'event_id: '],
  ])('parking with %s is refused by name', async (_what, values, start) => {
    await expect(
      db.pool.query('select leasehold.park_event($1, $2, $3, $4, $5, $6)', values),
    ).rejects.toMatchObject({
      code: 'LH001',
      message: expect.stringMatching(`^${start}`) as string,
    });
  });
});

describe('asking for missing events (leasehold.aggregate_events)', () => {
  const asking = (): ReturnType<typeof orderedConsumer> & { readonly gaps: Gap[] } => {
    const gaps: Gap[] = [];
    const ask = missingFromOutbox(poolConnection(db.pool), (event) => event);
    const missing = async (gap: Gap): ReturnType<typeof ask> => {
      gaps.push(gap);
      return await ask(gap);
    };
    return { ...orderedConsumer(db.pool, { missing }), gaps };
  };

  test('S4.4 a consumer that missed events asks the outbox for them, applies them and goes on', async () => {
    const events = orderEvents(5);
    await append(db.pool, events);
    const consumer = asking();
    await processInOrder(consumer, at(events, 1));
    expect(await processInOrder(consumer, at(events, 5))).toEqual({ outcome: 'applied' });
    const { aggregateId, aggregateType } = at(events, 1);
    expect(consumer.gaps).toEqual([{ aggregateType, aggregateId, from: 2, before: 5 }]);
    expect(await appliedVersions(db.pool, { ...consumer, aggregate: aggregateId })).toEqual([
      1, 2, 3, 4, 5,
    ]);
    expect(await processInOrder(consumer, at(events, 3))).toEqual({ outcome: 'duplicate' });
  });

  test('a long gap is asked for in pages', async () => {
    const events = orderEvents(230);
    await append(db.pool, events);
    const consumer = asking();
    expect(await processInOrder(consumer, at(events, 230))).toEqual({ outcome: 'applied' });
    expect(consumer.gaps.map(({ from }) => from)).toEqual([1, 101, 201]);
    const { aggregateId: aggregate } = at(events, 1);
    expect(await appliedVersions(db.pool, { ...consumer, aggregate })).toEqual(numbers(230));
  });

  test('an event that a person skipped is stepped over without an effect', async () => {
    const events = orderEvents(3);
    await append(db.pool, events);
    await db.pool.query(
      `insert into leasehold.outbox_published (event_id, outcome, at, attempts, by)
       values ($1, 'skipped', now(), 1, 'ana')`,
      [at(events, 2).id],
    );
    await db.pool.query('delete from leasehold.outbox_pending where event_id = $1', [
      at(events, 2).id,
    ]);
    const consumer = asking();
    await processInOrder(consumer, at(events, 1));
    expect(await processInOrder(consumer, at(events, 3))).toEqual({ outcome: 'applied' });
    const { aggregateId: aggregate } = at(events, 1);
    expect(await appliedVersions(db.pool, { ...consumer, aggregate })).toEqual([1, 3]);
    expect(await processInOrder(consumer, at(events, 2))).toEqual({ outcome: 'duplicate' });
  });

  test('an event whose payload retention took stops the consumer, which says so', async () => {
    const events = orderEvents(4);
    await append(db.pool, events);
    await db.pool.query(
      `update leasehold.outbox_events set payload = null, payload_dropped_at = now() where id = $1`,
      [at(events, 2).id],
    );
    const consumer = asking();
    await processInOrder(consumer, at(events, 1));
    const stopped = { outcome: 'parked', missingVersion: 2 };
    expect(await processInOrder(consumer, at(events, 4))).toEqual(stopped);
    expect(await processInOrder(consumer, at(events, 3))).toEqual(stopped);
    const { aggregateId: aggregate } = at(events, 1);
    expect(await appliedVersions(db.pool, { ...consumer, aggregate })).toEqual([1]);
  });

  test('what the producer does not have leaves the event parked', async () => {
    const events = orderEvents(4);
    await append(db.pool, events.slice(0, 2));
    const consumer = asking();
    const parkedAt = { outcome: 'parked', missingVersion: 3 };
    expect(await processInOrder(consumer, at(events, 4))).toEqual(parkedAt);
    expect(await processInOrder(consumer, at(events, 3))).toEqual({ outcome: 'applied' });
    const { aggregateId: aggregate } = at(events, 1);
    expect(await appliedVersions(db.pool, { ...consumer, aggregate })).toEqual([1, 2, 3, 4]);
  });

  test('asking that fails is thrown on, and the delivery that comes again goes on from there', async () => {
    const events = orderEvents(3);
    await append(db.pool, events);
    const missing = missingFromOutbox(poolConnection(db.pool), (event) => event);
    const down = orderedConsumer(db.pool, {
      missing: () => Promise.reject(new Error('producer is down')),
    });
    await expect(processInOrder(down, at(events, 3))).rejects.toThrow('producer is down');
    const up = { ...down, missing };
    expect(await processInOrder(up, at(events, 3))).toEqual({ outcome: 'applied' });
    const { aggregateId: aggregate } = at(events, 1);
    expect(await appliedVersions(db.pool, { ...down, aggregate })).toEqual([1, 2, 3]);
  });
});
