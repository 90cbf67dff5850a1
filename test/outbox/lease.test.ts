import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { ClaimedEvents } from '../../shared/outbox/claim-events.ts';
import { claimEvents } from '../../shared/outbox/claim-events.ts';
import { renewShard } from '../../shared/outbox/renew-shard.ts';
import type { PublishResult } from '../../shared/outbox/settle-events.ts';
import { settleEvents } from '../../shared/outbox/settle-events.ts';
import type { Sql } from '../../shared/ports.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createHttpSql, type HttpSql } from '../support/http-sql.ts';
import {
  append,
  appendRounds,
  expireShards,
  pendingCount,
  publishedIds,
} from './support/outbox.ts';

let db: TestDatabase;
let http: HttpSql;
beforeAll(async () => {
  db = await createTestDatabase();
  http = await createHttpSql(db);
});
beforeEach(async () => {
  http.endpoint.faults.clear();
  await db.pool.query('delete from leasehold.outbox_pending');
  await db.pool.query('delete from leasehold.outbox_holds');
  await expireShards(db.pool);
});
afterAll(async () => {
  await http.close();
  await db.drop();
});

const claim = async (
  input: Partial<Parameters<typeof claimEvents>[1]> = {},
  sql: Sql = db.sql,
): Promise<ClaimedEvents | undefined> =>
  await claimEvents(sql, {
    owner: 'relay-a',
    claimId: uuidv7(),
    leaseSeconds: 30,
    limit: 100,
    ...input,
  });

async function claimed(...input: Parameters<typeof claim>): Promise<ClaimedEvents> {
  const batch = await claim(...input);
  if (batch === undefined) throw new Error('nothing was claimed');
  return batch;
}

const allPublished = ({ events }: ClaimedEvents): PublishResult[] =>
  events.map(({ id }) => ({ id, outcome: 'published' }));

async function settle(
  batch: ClaimedEvents,
  results: readonly PublishResult[],
  more = false,
  sql: Sql = db.sql,
): ReturnType<typeof settleEvents> {
  return await settleEvents(sql, {
    lease: batch.lease,
    results,
    more,
    leaseSeconds: 30,
    maxAttempts: 3,
  });
}

describe('leasehold.claim_events', () => {
  test('gives the events of one shard in the order of their versions, under one token', async () => {
    const ids = (await appendRounds(db.sql, ['1'], 5)).get('1');
    const batch = await claimed();
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
    expect(await claim()).toBeUndefined();
    const after = await db.pool.query('select xmin, * from leasehold.outbox_shards order by shard');
    expect(after.rows).toEqual(before.rows);
  });

  test('a leased shard is nobody else’s until the lease runs out; then the token is higher', async () => {
    await append(db.sql);
    const first = await claimed();
    expect(await claim({ owner: 'relay-b' })).toBeUndefined();
    await expireShards(db.pool);
    const second = await claimed({ owner: 'relay-b' });
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
    const batch = await claimed();
    expect(batch.events.map(({ id }) => id)).toEqual([eventId]);
    await settle(batch, allPublished(batch));
    await client.query('commit');
    client.release();
    expect((await claimed()).events).toHaveLength(1);
  });

  test('says whether there is more, and gives it under the same lease when asked again', async () => {
    const ids = (await appendRounds(db.sql, ['1'], 25)).get('1') ?? [];
    const claimId = uuidv7();
    const seen: string[] = [];
    for (const more of [true, true, false]) {
      const batch = await claimed({ claimId, limit: 10 });
      expect(batch.moreDue).toBe(more);
      seen.push(...batch.events.map(({ id }) => id));
      expect(await claim({ owner: 'relay-b' })).toBeUndefined();
      await settle(batch, allPublished(batch), more);
    }
    expect(seen).toEqual(ids);
    expect(await publishedIds(db.pool)).toEqual(expect.arrayContaining(ids));
  });

  test('ends a lease that was kept when nothing is left', async () => {
    await append(db.sql);
    const claimId = uuidv7();
    const batch = await claimed({ claimId });
    await settle(batch, allPublished(batch), true);
    expect(await claim({ claimId })).toBeUndefined();
    await append(db.sql);
    expect(await claim({ owner: 'relay-b' })).toBeDefined();
  });

  test('goes on with another shard under the same claim id when one is done', async () => {
    await appendRounds(db.sql, ['1', '2', '3', '4', '5', '6'], 1);
    const claimId = uuidv7();
    const shards = new Set<number>();
    for (
      let batch = await claim({ claimId });
      batch !== undefined;
      batch = await claim({ claimId })
    ) {
      shards.add(batch.lease.shard);
      await settle(batch, allPublished(batch), true);
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
    await expect(claim(input)).rejects.toMatchObject({
      code: 'invalid_request',
      problems: [{ path }],
    });
  });
});

describe('a lost answer', () => {
  test('B.3 to a claim: the repeat gives the same lease and the same events', async () => {
    await appendRounds(db.sql, ['1', '2', '3', '4'], 2);
    http.endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /claim_events/ });
    const batch = await claimed({}, http.sql);
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
      const batch = await claimed();
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
      expect(await settle(batch, results, more, http.sql)).toEqual({
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
    const first = await claimed();
    await settle(first, failure(first));
    await settle(first, failure(first));
    await db.pool.query('update leasehold.outbox_holds set due_at = clock_timestamp()');
    const second = await claimed();
    expect(second.events.map(({ attempt }) => attempt)).toEqual([2]);
    await settle(second, failure(second));
    await settle(second, failure(second));
    const { rows } = await db.pool.query('select attempt from leasehold.outbox_holds');
    expect(rows).toEqual([{ attempt: 2 }]);
  });
});

describe('fencing', () => {
  test('a relay whose shard was taken over settles nothing and renews nothing', async () => {
    await append(db.sql);
    const stale = await claimed();
    await expireShards(db.pool);
    const fresh = await claimed({ owner: 'relay-b' });
    expect(await settle(stale, allPublished(stale))).toEqual({ outcome: 'lease_lost' });
    expect(await renewShard(db.sql, { lease: stale.lease, leaseSeconds: 30 })).toBe('lease_lost');
    expect(await pendingCount(db.pool)).toBe(1);
    expect(await settle(fresh, allPublished(fresh))).toMatchObject({ published: 1 });
    expect(await pendingCount(db.pool)).toBe(0);
  });

  test('the same owner with an older token is refused too', async () => {
    await append(db.sql);
    const stale = await claimed();
    await expireShards(db.pool);
    await claimed();
    expect(await settle(stale, allPublished(stale))).toEqual({ outcome: 'lease_lost' });
  });

  test('a lease that ran out, and that nobody took over, still settles: what is out is marked', async () => {
    await append(db.sql);
    const batch = await claimed();
    await expireShards(db.pool);
    expect(await settle(batch, allPublished(batch))).toMatchObject({
      outcome: 'settled',
      published: 1,
    });
  });

  test('a renewal holds the shard, and never shortens the lease', async () => {
    await append(db.sql);
    const batch = await claimed({ leaseSeconds: 100 });
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
    const batch = await claimed();
    const own = new Set(batch.events.map(({ id }) => id));
    const { rows } = await db.pool.query<{ id: string }>(
      'select event_id as id from leasehold.outbox_pending',
    );
    const foreign = rows.map(({ id }) => id).filter((id) => !own.has(id));
    expect(foreign.length).toBeGreaterThan(0);
    const results = foreign.map((id): PublishResult => ({ id, outcome: 'published' }));
    expect(await settle(batch, results)).toMatchObject({ published: 0 });
    expect(await pendingCount(db.pool)).toBe(8);
  });
});

describe('leasehold.publish_results_problem', () => {
  const error = { code: 'x', message: 'X.' };
  const id = uuidv7();
  test.each([
    ['results', {}],
    ['results', Array.from({ length: 501 }, () => ({ id, outcome: 'published' }))],
    ['results[0]', [null]],
    ['results[0]', [{ id: 'x', outcome: 'published' }]],
    ['results[0].outcome', [{ id, outcome: 'sent' }]],
    ['results[1].outcome', [{ id, outcome: 'published' }, { id }]],
    ['results[0].attempt', [{ id, outcome: 'failed', error }]],
    ['results[0].error', [{ id, outcome: 'failed', attempt: 1 }]],
    ['results[0].error', [{ id, outcome: 'failed', attempt: 1, error: { code: 'x' } }]],
    ['results[0].away', [{ id, outcome: 'failed', attempt: 1, error, away: 'yes' }]],
    [
      'results[0].retry_after_ms',
      [{ id, outcome: 'failed', attempt: 1, error, retry_after_ms: -1 }],
    ],
  ])('names %s %#', async (path, results) => {
    const { rows } = await db.pool.query<{ problem: string }>(
      'select leasehold.publish_results_problem($1) as problem',
      [JSON.stringify(results)],
    );
    expect(rows[0]?.problem.split(': ')[0]).toBe(path);
  });
});
