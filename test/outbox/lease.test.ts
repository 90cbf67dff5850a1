import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { ClaimedEvents } from '../../shared/outbox/claim-events.ts';
import type { PublishResult } from '../../shared/outbox/settle-events.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createHttpSql, type HttpSql } from '../support/http-sql.ts';
import {
  append,
  appendRounds,
  clearOutbox,
  expireShards,
  pendingCount,
  publishedIds,
} from './support/outbox.ts';
import { allPublished, claim, claimed, settle } from './support/shard-calls.ts';

let db: TestDatabase;
let http: HttpSql;
beforeAll(async () => {
  db = await createTestDatabase();
  http = await createHttpSql(db);
});
beforeEach(async () => {
  http.endpoint.faults.clear();
  await clearOutbox(db.pool);
});
afterAll(async () => {
  await http.close();
  await db.drop();
});

describe('leasehold.claim_events and leasehold.shard_has_due', () => {
  test('gives the events of one shard in the order of their versions, under one token', async () => {
    const ids = (await appendRounds(db.sql, ['1'], 5)).get('1');
    const batch = await claimed(db.sql);
    expect(batch.events.map(({ id }) => id)).toEqual(ids);
    expect(batch.events.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1, 1]);
    expect(batch.moreDue).toBe(false);
    expect(batch.leaseRemainingMs).toBeGreaterThan(29_000);
    expect(batch.leaseRemainingMs).toBeLessThanOrEqual(30_000);
  });

  test('finds nothing where nothing is, and writes nothing then', async () => {
    const before = await db.pool.query(
      'select xmin, * from leasehold.outbox_shards order by shard',
    );
    expect(await claim(db.sql)).toBeUndefined();
    const after = await db.pool.query('select xmin, * from leasehold.outbox_shards order by shard');
    expect(after.rows).toEqual(before.rows);
  });

  test('a leased shard is nobody else’s until the lease runs out; then the token is higher', async () => {
    await append(db.sql);
    const first = await claimed(db.sql);
    expect(await claim(db.sql, { owner: 'relay-b' })).toBeUndefined();
    await expireShards(db.pool);
    const second = await claimed(db.sql, { owner: 'relay-b' });
    expect(second.events).toEqual(first.events);
    expect(BigInt(second.lease.fencingToken)).toBe(BigInt(first.lease.fencingToken) + 1n);
  });

  test('an event that is not committed is not there, and does not hold up what comes after it', async () => {
    const client = await db.pool.connect();
    await client.query('begin');
    await client.query(`select leasehold.append_event($1, 'order', '42', 't', '1')`, [uuidv7()]);
    // The same shard: its aggregates are told apart by their ids alone.
    const { rows } = await db.pool.query<{ id: string }>(
      `select i::text as id from generate_series(1000, 2000) i
       where leasehold.outbox_shard('order', i::text) = leasehold.outbox_shard('order', '42') limit 1`,
    );
    const aggregateId = rows[0]?.id ?? '';
    const { eventId } = await append(db.sql, { aggregateId });
    const batch = await claimed(db.sql);
    expect(batch.events.map(({ id }) => id)).toEqual([eventId]);
    await settle(db.sql, batch, allPublished(batch));
    await client.query('commit');
    client.release();
    expect((await claimed(db.sql)).events).toHaveLength(1);
  });

  test('says whether there is more, and gives it under the same lease when asked again', async () => {
    const ids = (await appendRounds(db.sql, ['1'], 25)).get('1') ?? [];
    const claimId = uuidv7();
    const seen: string[] = [];
    for (const more of [true, true, false]) {
      const batch = await claimed(db.sql, { claimId, limit: 10 });
      expect(batch.moreDue).toBe(more);
      seen.push(...batch.events.map(({ id }) => id));
      expect(await claim(db.sql, { owner: 'relay-b' })).toBeUndefined();
      await settle(db.sql, batch, allPublished(batch), more);
    }
    expect(seen).toEqual(ids);
    expect(await publishedIds(db.pool)).toEqual(expect.arrayContaining(ids));
  });

  test('gives at most 4 MiB of payloads at a time, and never nothing', async () => {
    const big = 'x'.repeat(1_500_000);
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      ids.push((await append(db.sql, { aggregateId: '1', payload: big })).eventId);
    }
    const claimId = uuidv7();
    const sizes: number[] = [];
    const seen: string[] = [];
    for (
      let batch = await claim(db.sql, { claimId });
      batch !== undefined;
      batch = await claim(db.sql, { claimId })
    ) {
      sizes.push(batch.events.length);
      expect(batch.moreDue).toBe(seen.length + batch.events.length < 5);
      seen.push(...batch.events.map(({ id }) => id));
      await settle(db.sql, batch, allPublished(batch), true);
    }
    expect(sizes).toEqual([2, 2, 1]);
    expect(seen).toEqual(ids);
  });

  test('ends a lease that was kept when nothing is left', async () => {
    await append(db.sql);
    const claimId = uuidv7();
    const batch = await claimed(db.sql, { claimId });
    await settle(db.sql, batch, allPublished(batch), true);
    expect(await claim(db.sql, { claimId })).toBeUndefined();
    await append(db.sql);
    expect(await claim(db.sql, { owner: 'relay-b' })).toBeDefined();
  });

  test('goes on with another shard under the same claim id when one is done', async () => {
    await appendRounds(db.sql, ['1', '2', '3', '4', '5', '6'], 1);
    const claimId = uuidv7();
    const shards = new Set<number>();
    for (
      let batch = await claim(db.sql, { claimId });
      batch !== undefined;
      batch = await claim(db.sql, { claimId })
    ) {
      shards.add(batch.lease.shard);
      await settle(db.sql, batch, allPublished(batch), true);
    }
    expect(shards.size).toBeGreaterThan(1);
    expect(await pendingCount(db.pool)).toBe(0);
  });

  test.each([
    ['owner', { owner: '' }],
    ['owner', { owner: 'x'.repeat(201) }],
    ['lease_seconds', { leaseSeconds: 0 }],
    ['lease_seconds', { leaseSeconds: 3601 }],
    ['limit', { limit: 0 }],
    ['limit', { limit: 501 }],
  ])('refuses %s %j', async (path, input) => {
    await expect(claim(db.sql, input)).rejects.toMatchObject({
      code: 'invalid_request',
      problems: [{ path }],
    });
  });
});

describe('a lost answer', () => {
  test('B.3 to a claim: the repeat gives the same lease and the same events', async () => {
    await appendRounds(db.sql, ['1', '2', '3', '4'], 2);
    http.endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /claim_events/ });
    const batch = await claimed(http.sql);
    const { rows } = await db.pool.query<{ leases: number; token: string }>(
      `select count(*)::int as leases, max(fencing_token)::text as token from leasehold.outbox_shards
       where leased_until > clock_timestamp()`,
    );
    expect(rows).toEqual([{ leases: 1, token: batch.lease.fencingToken }]);
  });

  test.each([true, false])(
    'B.3 to a settlement: the repeat changes nothing more (more: %s)',
    async (more) => {
      await append(db.sql, { aggregateId: '1' });
      await append(db.sql, { aggregateId: '1' });
      const batch = await claimed(db.sql);
      const [first, second] = batch.events;
      const results: PublishResult[] = [
        { id: first?.id ?? '', outcome: 'published' },
        {
          id: second?.id ?? '',
          outcome: 'failed',
          attempt: 1,
          error: { code: 'http_500', message: 'No.' },
        },
      ];
      http.endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /settle_events/ });
      expect(await settle(http.sql, batch, results, more)).toEqual({
        outcome: 'settled',
        published: 0,
        failed: 0,
        quarantined: 0,
      });
      const { rows } = await db.pool.query(
        `select h.attempt, (select count(*)::int from leasehold.outbox_log l where l.event_id = h.event_id) as logged
         from leasehold.outbox_holds h`,
      );
      expect(rows).toEqual([{ attempt: 1, logged: 1 }]);
      expect(await pendingCount(db.pool)).toBe(1);
    },
  );

  test('B.3 to the failure of a held event: it counts once', async () => {
    await append(db.sql);
    const failure = (batch: ClaimedEvents): PublishResult[] =>
      batch.events.map(({ id, attempt }) => ({
        id,
        outcome: 'failed',
        attempt,
        error: { code: 'x', message: 'X.' },
      }));
    const first = await claimed(db.sql);
    await settle(db.sql, first, failure(first));
    await settle(db.sql, first, failure(first));
    await db.pool.query('update leasehold.outbox_holds set due_at = clock_timestamp()');
    const second = await claimed(db.sql);
    expect(second.events.map(({ attempt }) => attempt)).toEqual([2]);
    await settle(db.sql, second, failure(second));
    await settle(db.sql, second, failure(second));
    const { rows } = await db.pool.query('select attempt from leasehold.outbox_holds');
    expect(rows).toEqual([{ attempt: 2 }]);
  });
});
