import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { renewShard } from '../../shared/outbox/renew-shard.ts';
import type { PublishResult } from '../../shared/outbox/settle-events.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { append, appendRounds, clearOutbox, expireShards, pendingCount } from './support/outbox.ts';
import { allPublished, claimed, settle } from './support/shard-calls.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(() => clearOutbox(db.pool));
afterAll(() => db.drop());

describe('fencing', () => {
  test('a relay whose shard was taken over settles nothing and renews nothing', async () => {
    await append(db.sql);
    const stale = await claimed(db.sql);
    await expireShards(db.pool);
    const fresh = await claimed(db.sql, { owner: 'relay-b' });
    expect(await settle(db.sql, stale, allPublished(stale))).toEqual({ outcome: 'lease_lost' });
    expect(await renewShard(db.sql, { lease: stale.lease, leaseSeconds: 30 })).toBe('lease_lost');
    expect(await pendingCount(db.pool)).toBe(1);
    expect(await settle(db.sql, fresh, allPublished(fresh))).toMatchObject({ published: 1 });
    expect(await pendingCount(db.pool)).toBe(0);
  });

  test('the same owner with an older token is refused too', async () => {
    await append(db.sql);
    const stale = await claimed(db.sql);
    await expireShards(db.pool);
    await claimed(db.sql);
    expect(await settle(db.sql, stale, allPublished(stale))).toEqual({ outcome: 'lease_lost' });
  });

  test('a lease that ran out, and that nobody took over, still settles: what is out is marked', async () => {
    await append(db.sql);
    const batch = await claimed(db.sql);
    await expireShards(db.pool);
    expect(await settle(db.sql, batch, allPublished(batch))).toMatchObject({
      outcome: 'settled',
      published: 1,
    });
  });

  test('a renewal holds the shard, and never shortens the lease', async () => {
    await append(db.sql);
    const batch = await claimed(db.sql, { leaseSeconds: 100 });
    const end = async (): Promise<number> => {
      const { rows } = await db.pool.query<{ left: number }>(
        `select extract(epoch from leased_until - clock_timestamp())::float8 as left
         from leasehold.outbox_shards where shard = $1`,
        [batch.lease.shard],
      );
      return rows[0]?.left ?? 0;
    };
    expect(await renewShard(db.sql, { lease: batch.lease, leaseSeconds: 10 })).toBe('held');
    expect(await end()).toBeGreaterThan(90);
    expect(await renewShard(db.sql, { lease: batch.lease, leaseSeconds: 1000 })).toBe('held');
    expect(await end()).toBeGreaterThan(990);
  });

  test('results for events of another shard are passed over', async () => {
    await appendRounds(db.sql, ['1', '2', '3', '4', '5', '6', '7', '8'], 1);
    const batch = await claimed(db.sql);
    const own = new Set(batch.events.map(({ id }) => id));
    const { rows } = await db.pool.query<{ id: string }>(
      'select event_id as id from leasehold.outbox_pending',
    );
    const foreign = rows.map(({ id }) => id).filter((id) => !own.has(id));
    expect(foreign.length).toBeGreaterThan(0);
    const results = foreign.map((id): PublishResult => ({ id, outcome: 'published' }));
    expect(await settle(db.sql, batch, results)).toMatchObject({ published: 0 });
    expect(await pendingCount(db.pool)).toBe(8);
  });
});
