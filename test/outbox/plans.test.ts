import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { buffers, explained } from '../sql/support/explained.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { appendMany, clearOutbox, relay } from './support/outbox.ts';
import { batchCost, fillPublished } from './support/relay-cost.ts';
import { scriptedPublisher } from './support/scripted-publisher.ts';

let db: TestDatabase;
let client: pg.PoolClient;
beforeAll(async () => {
  db = await createTestDatabase();
  client = await db.pool.connect();
});
afterAll(async () => {
  client.release();
  await db.drop();
});

const BATCH = { events: 100, aggregates: 20 };
/** A look-up by key goes through one more page a level; two events of a batch of 500 may need one more. */
const LEVELS = 2;

/** Batches are measured in shard 3, and other relays are not to take this one's events there. */
async function aggregateOfAnotherShard(): Promise<string> {
  const { rows } = await db.pool.query<{ id: string }>(
    `select i::text as id from generate_series(1, 1000) i where leasehold.outbox_shard('order', i::text) = 7 limit 1`,
  );
  await db.pool.query(
    `update leasehold.outbox_shards set leased_until = now() + interval '1 hour' where shard = 7`,
  );
  return rows[0]?.id ?? '';
}

describe('a batch of the relay', () => {
  test('costs the same with 1,000 and with 100,000 published events; plans never walk history', async () => {
    await fillPublished(db.pool, 1000);
    const few = await batchCost(client, BATCH);
    await fillPublished(db.pool, 99_000);
    const many = await batchCost(client, BATCH);
    await db.pool.query('analyze leasehold.outbox_events, leasehold.outbox_published');
    const analyzed = await batchCost(client, BATCH);
    expect([few.events, many.events, analyzed.events]).toEqual([100, 100, 100]);
    expect([...few.faults, ...many.faults, ...analyzed.faults]).toEqual([]);
    for (const later of [many, analyzed]) {
      expect(later.claimPages).toBeLessThanOrEqual(few.claimPages + LEVELS * BATCH.events);
      expect(later.settlePages).toBeLessThanOrEqual(few.settlePages + LEVELS * BATCH.events);
    }
    // A few pages an event: the pending row, the event, the mark.
    expect(many.claimPages).toBeLessThan(10 * BATCH.events);
    expect(many.settlePages).toBeLessThan(30 * BATCH.events);
  }, 120_000);

  test('costs the same beside 50,000 events of another shard that statistics have never heard of', async () => {
    const few = await batchCost(client, BATCH);
    // The usual life of this table: empty when the statistics were made, full a moment later.
    await db.pool.query('vacuum analyze leasehold.outbox_pending');
    await db.pool.query('vacuum analyze leasehold.outbox_holds');
    const other = await aggregateOfAnotherShard();
    for (let i = 0; i < 25; i += 1) await appendMany(db.pool, other, 2000);
    const beside = await batchCost(client, BATCH);
    expect(beside.faults).toEqual([]);
    expect(beside.claimPages).toBeLessThanOrEqual(few.claimPages + LEVELS * BATCH.events);
    expect(beside.settlePages).toBeLessThanOrEqual(few.settlePages + LEVELS * BATCH.events);
    await clearOutbox(db.pool);
  }, 120_000);

  test('an empty claim probes sixteen shards and no more', async () => {
    const claim = 'select * from leasehold.claim_events($1, $2)';
    await client.query(claim, ['cost', uuidv7()]);
    const statements = await explained(client, claim, ['cost', uuidv7()]);
    const outer = statements.at(-1);
    expect(outer && buffers(outer.plan)).toBeLessThan(16 * 12);
  });

  test('under an old snapshot it costs no more after 10,000 published events than before', async () => {
    const old = await db.pool.connect();
    await old.query('begin isolation level repeatable read');
    await old.query('select 1 from leasehold.outbox_pending');
    try {
      const before = await batchCost(client, BATCH);
      const publisher = scriptedPublisher();
      for (let round = 0; round < 10; round += 1) {
        await appendMany(db.pool, `snapshot ${round % 7}`, 1000);
        while ((await relay(db.sql, publisher)).batches > 0);
      }
      const after = await batchCost(client, BATCH);
      expect(after.claimPages).toBeLessThanOrEqual(before.claimPages + LEVELS * BATCH.events);
    } finally {
      await old.query('rollback');
      old.release();
    }
  }, 120_000);
});
